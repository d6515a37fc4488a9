// The script of all pages of the console: appearance, keyboard, filter and order of rows, and what
// keeps a page live. Without it, pages work but do not update.
(() => {
  const d = document, root = d.documentElement
  const $ = (s, e = d) => e.querySelector(s), $$ = (s, e = d) => [...e.querySelectorAll(s)]
  const store = {
    get: (k) => { try { return localStorage.getItem(k) } catch { return null } },
    set: (k, v) => { try { localStorage.setItem(k, v) } catch { /* a private window keeps nothing */ } },
  }
  const theme = (v) => { if (v) root.dataset.theme = v; else delete root.dataset.theme }
  theme(store.get('theme'))

  const say = (text) => {
    const p = $('#say')
    p.textContent = text
    clearTimeout(say.timer)
    say.timer = setTimeout(() => { p.textContent = '' }, 4000)
  }

  // Keyboard. step moves the focus to the next or previous visible element of the class row.
  const step = (n) => {
    const all = $$('.row'), at = all.indexOf(d.activeElement)
    let next = at < 0 ? 0 : at + n
    while (all[next] && !all[next].getClientRects().length) next += at < 0 ? 1 : n
    all[next]?.focus()
    all[next]?.scrollIntoView({ block: 'nearest' })
  }
  let edit // goes to the first fault of a message that can be edited
  const typing = (e) => /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== 'checkbox'
  const keys = {
    '/': () => { $('#q')?.focus(); $('#q')?.select() },
    j: () => step(1),
    k: () => step(-1),
    '?': () => $('#keys')?.showModal(),
    e: () => edit?.(),
    x: () => $('input[type=checkbox]', d.activeElement.closest('li, tr') || d.createElement('i'))?.click(),
  }
  d.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') {
      if (typing(e)) e.target.blur()
      const menu = $('.me[open]')
      if (menu?.contains(d.activeElement)) $('summary', menu).focus()
      menu?.removeAttribute('open')
      return
    }
    if (typing(e) || e.ctrlKey || e.metaKey || e.altKey || store.get('keys') === 'off' || $('dialog[open]')) return
    if (keys[e.key]) { e.preventDefault(); keys[e.key]() }
  })

  // A click anywhere on a row of a table opens the row, unless the click selects text.
  d.addEventListener('click', (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest('a, button, input, label') || String(getSelection())) return
    $('a.row', e.target.closest('tbody tr') || d.createElement('i'))?.click()
  })

  // A form about rejects is sent once. A second click would replace the answer by one that says
  // that somebody has decided already. If no answer comes, the form can be sent again after 10 s.
  let sent = 0
  d.addEventListener('submit', (e) => { if (Date.now() - sent < 10000) { e.preventDefault(); e.stopPropagation() } }, true)
  d.addEventListener('submit', (e) => { if (!e.defaultPrevented && e.target.matches('[action^="/console/rejects/"]')) sent = Date.now() })
  addEventListener('pageshow', () => { sent = 0 })

  // Filter and order of the rows of a table, kept in the address. If still is set, rows do not
  // move: rows that are shown stay, and rows that match only now come last.
  const filter = (still) => {
    const table = $('#rows'), text = ($('[data-filter]')?.value || '').trim().toLowerCase()
    const show = $('[data-show][aria-pressed=true]')?.dataset.show || ''
    let n = 0
    for (const tr of $$('tbody tr', table)) {
      const ok = (still && !tr.hidden) || ((!show || tr.matches(show)) && text.split(/\s+/).every((w) => tr.dataset.f.includes(w)))
      if (still && ok && tr.hidden) table.tBodies[table.tBodies.length - 1].append(tr)
      tr.hidden = !ok
      n += ok
    }
    table.classList.toggle('filtered', !!(text || show))
    const none = $('#none')
    if (none) none.hidden = n > 0
    return n
  }
  const address = (change) => { const u = new URL(location); change(u); history.replaceState(null, '', u) }
  // The words of the filter may be names. They are in the fragment of the address, which a browser
  // sends to no server and no proxy.
  const rememberFilter = (text) => address((u) => { u.hash = text && 'filter=' + encodeURIComponent(text) })
  const remember = (name, value) => address((u) => { if (value) u.searchParams.set(name, value); else u.searchParams.delete(name) })
  const sort = (th, up = th.getAttribute('aria-sort') !== 'ascending') => {
    const table = $('#rows'), i = [...th.parentNode.children].indexOf(th)
    $$('th[aria-sort]', table).forEach((x) => x.removeAttribute('aria-sort'))
    th.setAttribute('aria-sort', up ? 'ascending' : 'descending')
    const value = (tr) => { const c = tr.children[i], v = c.dataset.v; return v === undefined ? c.textContent.trim() : isNaN(v) ? v : +v } // 12E345 is a text
    const groups = table.tBodies, list = $$('tbody tr', table).map((tr, n) => [value(tr), n, tr])
    list.sort((a, b) => ((a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) || a[1] - b[1]) * (up ? 1 : -1))
    const focus = d.activeElement
    const size = Math.ceil(list.length / groups.length)
    for (const g of groups) g.append(...list.splice(0, size).map((x) => x[2]))
    filter()
    focus?.focus()
    changed.clear()
    if ($('#moved')) $('#moved').hidden = true
  }

  // Ages tick by themselves. The words are those of the server.
  const span = (ms) => {
    const m = Math.round(ms / 60000)
    if (m < 0) return 'now'
    if (m < 100) return m + ' min'
    return m < 2880 ? `${Math.floor(m / 60)} h ${String(m % 60).padStart(2, '0')}` : Math.floor(m / 1440) + ' d'
  }
  // clock shows the time in the zone of a clock, which may change its offset while the page is open.
  const clock = (now, t) => {
    try { return new Intl.DateTimeFormat('en-GB', { timeZone: t.dataset.clock, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(now) } catch { return t.textContent } // a zone that the browser does not know
  }
  let skew = 0 // of the clock of this machine, in ms
  let old = performance.getEntriesByType('navigation')[0]?.type === 'back_forward' // the page may be an old copy, and its time too
  const tick = () => {
    const now = Date.now() + skew
    const write = (t, text) => { if (t.textContent !== text) t.textContent = text } // a text that is set anew is laid out anew
    for (const t of $$('time[data-ago]')) write(t, span(now - Date.parse(t.dateTime)))
    for (const t of $$('time[data-until]')) { const left = Date.parse(t.dateTime) - now; if (left > 0) write(t, span(left)) }
    for (const t of $$('time[data-clock]')) write(t, clock(now, t))
  }

  // merge makes the element a like b, and keeps what the reader has done to it: focus, and what is
  // open, hidden or pressed. Elements with an id are matched by it. It returns whether anything
  // that can be read has changed.
  const own = ['open', 'hidden', 'aria-pressed', 'aria-sort']
  const merge = (a, b) => {
    let different = false
    for (const { name, value } of b.attributes) {
      if (!own.includes(name) && a.getAttribute(name) !== value && !(name === 'class' && a.getAttribute(name)?.replace(/ ?(flash|left)\b/g, '') === value)) a.setAttribute(name, value)
    }
    for (const { name } of [...a.attributes]) if (!own.includes(name) && !b.hasAttribute(name)) a.removeAttribute(name)
    let at = a.firstChild
    for (const n of [...b.childNodes]) {
      let same = at
      if (n.id) {
        same = [...a.children].find((x) => x.id === n.id)
        // What is gone is removed before what follows it is matched: an element that moves loses
        // the focus, and a click on it.
        while (same && at !== same && ![...b.children].some((x) => x.id && x.id === at.id)) { const gone = at; at = at.nextSibling; gone.remove(); different = true }
      } else if (same?.id) same = null
      if (!same || same.nodeName !== n.nodeName) {
        a.insertBefore(n, at)
        different = true
        continue
      }
      if (same !== at) a.insertBefore(same, at)
      if (n.nodeType === 1) different = merge(same, n) || different
      else if (same.data !== n.data) { same.data = n.data; different ||= !a.matches('time') }
      at = same.nextSibling
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); different = true }
    return different
  }
  // flash marks rows for a moment. The page is laid out once for all of them, which takes long.
  const flash = (rows) => {
    rows.forEach((e) => e.classList.remove('flash'))
    void d.body.offsetWidth
    rows.forEach((e) => e.classList.add('flash'))
  }
  const changed = new Set()

  // apply takes over the parts of an answer. On a list that can be sorted again no row moves, and
  // new ones come last. On a board new rows come before the next of the answer; it drops those that
  // do not match its filter any more. asked reports whether a row was asked for; such a row that is
  // missing in the answer is marked as left.
  const apply = (text, asked) => {
    const parts = d.createElement('template')
    parts.innerHTML = text
    const seen = new Set(), different = [], moved = $('#moved'), rows = $$('tbody tr[id]', parts.content)
    for (const [i, tr] of rows.entries()) {
      seen.add(tr.id)
      const there = d.getElementById(tr.id)
      if (!there) {
        const next = !moved && rows.slice(i + 1).map((x) => d.getElementById(x.id)).find(Boolean)
        tr.hidden = true
        if (next) next.before(tr); else $('#rows tbody:last-child')?.append(tr)
      }
      if (there && !merge(there, tr)) continue
      different.push(d.getElementById(tr.id))
      changed.add(tr.id)
    }
    if (different.length) flash(different)
    for (const e of [...parts.content.children]) {
      const there = e.id && d.getElementById(e.id)
      if (there) merge(there, e)
    }
    for (const tr of $$('#rows tbody tr')) if (asked?.(tr)) tr.classList.toggle('left', !seen.has(tr.id))
    if ($('#rows')) filter(!!moved)
    if (moved && changed.size) { moved.hidden = false; moved.textContent = `Sort again, ${changed.size} changed` }
    tick()
  }

  // get is fetch with an end: a connection that is dead may never say so.
  const get = (url, options) => fetch(url, { signal: AbortSignal.timeout(30000), ...options })
  const sleep = (ms) => new Promise((done) => { setTimeout(done, ms) })
  // patience returns how many ms an answer asks to wait.
  const patience = (r) => Math.min(Number(r?.headers.get('Retry-After')) || 0, 300) * 1000

  // Live. The stream says which plates changed; the page asks for their HTML, one request at a
  // time. If there is no stream, or a silent one, it asks for everything every 10 s, and then tries
  // the stream again.
  const live = () => {
    const show = $('#live'), body = d.body
    if (!show) return
    let source, again, since, asking = false, all = false, wanted = new Set(), announced = 0, telling, asked = 0
    let heard = Date.now(), spoke = heard // when the service was heard last, and when its stream was
    let opened = 0 // when the stream was opened
    let polls = false // whether the service was heard last by a request
    let behind = 0 // since when the page asks for something that it does not get, or 0
    const state = (name, words) => {
      show.dataset.live = name
      const t = $('.t', show)
      if (t.textContent !== words) t.textContent = words
      $('#stale').hidden = name !== 'off'
      if (name === 'off' && !since) {
        $('#stale-since').textContent = (since = new Date(current() + skew)).toISOString().slice(11, 19) + 'Z'
        say($('#stale b').textContent)
      }
      const age = Date.now() - current()
      $('#stale-age').textContent = age < 100000 ? Math.round(age / 1000) + ' s' : span(age)
      if (name !== 'off' && since) say('Live again')
      if (name !== 'off') since = null
    }
    // A stream that is silent may be dead, or held back by a proxy. A heartbeat comes every 5 s.
    const streaming = () => source && source.readyState !== 2 && Date.now() - spoke < 7500
    const current = () => Math.min(heard, behind || heard) // what the page shows was known then
    const late = () => Date.now() - current() > (polls ? 14000 : 10000)
    const alive = () => { heard = Date.now(); if (!late()) state('on', polls ? 'Every 10 s' : 'Live') }
    // tell announces how many rows changed, at most every 10 s. A single change is not announced.
    const told = new Set()
    const tell = () => {
      if (told.size > 1) say(`${told.size} ${body.dataset.airport ? 'flights' : 'bags'} changed`)
      announced = Date.now()
      told.clear()
      telling = 0
    }
    const ask = async () => {
      if (asking || !(all || wanted.size)) return
      asking = true
      behind ||= Date.now()
      await sleep(asked + 500 - Date.now()) // a busy page asks twice a second
      asked = Date.now()
      const whole = all || wanted.size > 50, plates = [...wanted]
      let wait = 2000
      all = false
      wanted = new Set()
      try {
        const u = new URL(location)
        u.searchParams.delete('rows')
        for (const p of whole ? [''] : plates) u.searchParams.append('rows', p)
        const r = await get(u, { headers: { Accept: 'text/html' } })
        if (r.status === 401) { location.assign('/console/login?ended&next=' + encodeURIComponent(location.pathname + location.search) + location.hash); return }
        if (!r.ok) { wait = Math.max(wait, patience(r)); throw new Error(r.status) }
        const text = await r.text(), date = Date.parse(r.headers.get('Date'))
        if (old && date) skew = date - Date.now()
        old = false
        behind = 0
        if (!$('#rows') && text.includes('<tr id=')) { // the first of an empty list; what is being typed is not lost
          if ($$('input:not([type=checkbox])').every((i) => i.value === i.defaultValue)) location.reload()
          return
        }
        apply(text, (tr) => whole || plates.some((p) => (tr.id.slice(2) + '-').startsWith(p + '-'))) // bags of one plate are numbered
        plates.forEach((p) => told.add(p))
        if (whole) body.dataset.cursor ||= r.headers.get('Changes-Cursor') || '' // a page that was read without changes may follow them now
        if (!streaming()) {
          polls = true
          alive()
          if (!source || source.readyState === 2 || Date.now() - opened > 60000) follow() // a proxy refuses the stream while the service is away
        }
        if (told.size) telling ||= setTimeout(tell, announced + 10000 - Date.now())
      } catch {
        if (whole) all = true; else plates.forEach((p) => wanted.add(p))
        await new Promise((done) => { again = wait > 2000 ? null : done; setTimeout(done, wait) })
      } finally { asking = false }
      ask()
    }
    // refresh asks for everything.
    const refresh = () => { all = true; ask() }
    const follow = () => {
      if (d.hidden || !body.dataset.cursor) return // a browser has few connections for all its pages
      source?.close()
      opened = Date.now()
      source = new EventSource(body.dataset.stream + '&cursor=' + encodeURIComponent(body.dataset.cursor))
      const on = (name, what) => source.addEventListener(name, (e) => { if (e.lastEventId) body.dataset.cursor = e.lastEventId; spoke = Date.now(); polls = false; alive(); what?.(e) })
      on('heartbeat')
      on('change', (e) => { for (const key of keysOf(JSON.parse(e.data))) wanted.add(key); ask() })
      on('reset', refresh)
    }
    // keysOf returns the rows that a change is about: its plate, or the flights of a board. If a
    // flight may belong on the board but has no row, the page asks for all rows, once for each such
    // flight. A leg may name the airport by its city, and the airline by another code than the
    // board: then the page asks for the rows with its number and date. Arrivals may have left on
    // the day before. Those over the date line appear within a minute.
    const elsewhere = new Set()
    const keysOf = (change) => {
      const { airport, direction, date } = body.dataset
      if (!airport) return [change.plate]
      const legs = change.bags.flatMap((b) => b.legs)
      const key = (l) => `${l.airline}-${l.flight}-${l.date}`, there = (l) => d.getElementById('f-' + key(l))
      const arriving = direction === 'A', before = new Date(new Date(date) - 864e5).toISOString().slice(0, 10)
      for (const l of legs) {
        const fits = (l.date === date || arriving && l.date === before) && (arriving ? l.to : l.from) === airport
        if (fits && !there(l) && !elsewhere.has(key(l))) { elsewhere.add(key(l)); all = true }
      }
      return legs.flatMap((l) => (there(l) ? [key(l)] : $$(`tr[id^=f-][id$="-${l.flight}-${l.date}"]`).map((tr) => tr.id.slice(2))))
    }
    follow()
    $('#try-now').addEventListener('click', () => { again?.(); refresh(); follow() })
    setInterval(() => {
      if (!streaming() && Date.now() - asked > 9500) refresh()
      if (late()) state('off', 'Not live')
    }, 500)
    setInterval(refresh, 60000) // minutes that are left change by themselves
    d.addEventListener('visibilitychange', () => {
      if (d.hidden) { source?.close(); return }
      refresh()
      follow()
    })
    if (old) refresh()
    addEventListener('pageshow', (e) => { if (e.persisted) location.reload() })
  }

  // A job under way: its page asks twice a second how far it is.
  const job = async () => {
    const u = new URL(location)
    u.searchParams.set('rows', '')
    while ($('#job[data-again]')) {
      await sleep(500)
      const r = await get(u).catch(() => null)
      if (r && !r.ok && r.status < 429) { location.reload(); return } // the session has ended, or the job is gone
      if (r?.ok) apply(await r.text())
      await sleep(patience(r))
    }
  }

  // The editor of a reject. Faults come from the service, a moment after the last key; answers to
  // older texts are dropped.
  const editor = () => {
    const form = $('#editor')
    if (!form) return
    const text = $('#text')
    let number = 0, timer
    // check shows the faults of the text, and returns whether they are known. If not, the text stays
    // as it is: a page that was left would lose the edits.
    const check = async () => {
      const mine = ++number
      const r = await get(form.dataset.check + '?rows=', { method: 'POST', body: new URLSearchParams({ text: text.value }) }).catch(() => null)
      if (mine !== number) return false
      if (r?.ok) { apply(await r.text()); return true }
      const verdict = $('#verdict'), why = d.createElement('span')
      why.textContent = 'Not checked. Nothing is lost: the text stays here. '
      if (r?.status === 401) {
        const link = Object.assign(d.createElement('a'), { href: '/console/login', target: '_blank', textContent: 'Log in in another tab' })
        why.append('Your session has ended. ', link, ', then go on here.')
      } else why.append(r ? `The service answered ${r.status}. Try again in a moment.` : 'The service does not answer. Try again in a moment.')
      verdict.className = 'alert risk'
      verdict.replaceChildren(why)
      return false
    }
    // part returns what stands between two columns of a line. Columns are bytes, from 1.
    const part = (line, from, to) => new TextDecoder().decode(new TextEncoder().encode(line).slice(from - 1, to && to - 1))
    edit = () => {
      const fault = $('[data-line]')?.dataset, lines = text.value.split('\n')
      text.focus()
      if (!fault) return
      const before = lines.slice(0, fault.line - 1).join('\n').length + (fault.line > 1), line = lines[fault.line - 1]
      text.setSelectionRange(before + part(line, 1, fault.from).length, before + part(line, 1, fault.to).length)
    }
    const later = () => { clearTimeout(timer); timer = setTimeout(check, 300) }
    text.addEventListener('input', later)
    form.addEventListener('reset', () => setTimeout(check))
    // Leaving the page loses the edits, so the browser asks first, unless the user decides on this
    // reject.
    let decided = false
    d.addEventListener('submit', (e) => { decided = !e.defaultPrevented && form.parentNode.contains(e.target) })
    addEventListener('beforeunload', (e) => {
      if (decided || text.value === text.defaultValue) return
      e.preventDefault()
      setTimeout(() => { sent = 0 }) // the user has stayed
    })
    // A text with faults is not sent: it would only be rejected again, and the edits would be lost.
    form.addEventListener('submit', async (e) => {
      if (e.submitter?.value) return // as it came
      e.preventDefault()
      clearTimeout(timer)
      if (await check() && $('#verdict').matches('.ok, [data-unchecked]')) { decided = true; sent = Date.now(); form.submit(); return } // a key may be allowed to resubmit, and not to check
      edit()
      say($('#verdict').textContent)
    })
    d.addEventListener('click', (e) => {
      const fix = e.target.closest('[data-fix]')
      if (!fix) return
      const { line, from, to } = $('[data-line]', fix.parentNode).dataset
      const lines = text.value.split('\n'), before = lines[line - 1]
      text.focus()
      if ($$('#lines pre > span')[line - 1]?.firstChild.textContent !== (before || ' ')) return // it was edited since, and is being checked
      lines[line - 1] = part(before, 1, from) + fix.dataset.fix + part(before, to)
      text.value = lines.join('\n')
      check()
    })
  }

  d.addEventListener('DOMContentLoaded', () => {
    if (d.body.dataset.now && !old) skew = Date.parse(d.body.dataset.now) - Date.now()
    const mark = () => $$('[data-theme-set]').forEach((b) => b.setAttribute('aria-pressed', String((root.dataset.theme || '') === b.dataset.themeSet)))
    mark()
    $$('[data-theme-set]').forEach((b) => b.addEventListener('click', () => { theme(b.dataset.themeSet); store.set('theme', b.dataset.themeSet); mark() }))
    const on = $('#keys-on')
    if (on) { on.checked = store.get('keys') !== 'off'; on.addEventListener('change', () => store.set('keys', on.checked ? 'on' : 'off')) }
    $$('[data-open]').forEach((b) => b.addEventListener('click', () => $('#' + b.dataset.open).showModal()))
    $('[data-print-now]')?.addEventListener('click', () => print())
    $('[data-copy]')?.addEventListener('click', async (e) => { const copied = await navigator.clipboard?.writeText(e.target.dataset.copy).then(() => true, () => false); say(copied ? 'Copied' : 'Not copied: the browser does not allow it here') })
    const entry = $('form[action="/console/login"]')
    if (entry) entry.action += location.hash // a redirect keeps the fragment, which holds the words of a filter
    $('#show')?.addEventListener('click', (e) => {
      const hidden = $('#key').type === 'password'
      $('#key').type = hidden ? 'text' : 'password'
      e.target.setAttribute('aria-pressed', String(hidden))
    })
    d.addEventListener('click', (e) => { const m = $('.me[open]'); if (m && !m.contains(e.target)) m.open = false })

    if ($('#rows')) {
      const asked = new URLSearchParams(location.search), field = $('[data-filter]')
      const press = (b) => $$('[data-show]').forEach((x) => x.setAttribute('aria-pressed', String(x === b)))
      const again = () => { const n = filter(); say(n + ' shown') }
      field.value = new URLSearchParams(location.hash.slice(1)).get('filter') || ''
      const chip = $$('[data-show]').find((b) => b.dataset.show === asked.get('show'))
      if (chip) press(chip)
      if (field.value || chip) filter()
      field.addEventListener('input', () => { again(); rememberFilter(field.value) })
      $$('[data-show]').forEach((b) => b.addEventListener('click', () => { press(b); again(); remember('show', b.dataset.show) }))
      $('[data-clear]').addEventListener('click', () => {
        field.value = ''
        rememberFilter('')
        remember('show', '')
        const all = $('[data-show=""]') // feeds have none
        if (all) press(all)
        again()
        field.focus()
      })
      const heads = $$('#rows thead th'), order = asked.get('sort') || '', first = heads[order.replace('-', '')]
      if (order && first?.querySelector('button')) sort(first, order[0] !== '-')
      $$('#rows thead button').forEach((b) => b.addEventListener('click', () => {
        const th = b.closest('th')
        sort(th)
        remember('sort', (th.getAttribute('aria-sort') === 'ascending' ? '' : '-') + heads.indexOf(th))
        say('Sorted by ' + b.textContent)
      }))
      $('#moved')?.addEventListener('click', () => { sort($('th[data-first]'), true); remember('sort', ''); $('th[data-first] button').focus() })
    }
    const retry = $('[data-retry] [data-seconds]')
    if (retry) setInterval(() => { retry.textContent = retry.textContent - 1; if (retry.textContent < 1) location.reload() }, 1000)
    // On a narrow screen the filters of rejects are behind a button.
    $('#show-facets')?.addEventListener('click', (e) => e.target.setAttribute('aria-expanded', String($('.facets').classList.toggle('open'))))
    editor()
    job()
    tick()
    setInterval(tick, 15000)
    live()
  })
})()
