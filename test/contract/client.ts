// Calls the operations for messages, bags and flights with a client that was generated from the OpenAPI document of the service.
// contract_test.go says how it is compiled and started. Names of types are those that the generator makes of the document.
import {
  BagSearch, BagsApi, BatchesApi, Configuration, Failure, FailureFromJSON, FlightsApi, MessagesApi, ProblemFromJSON, QueriesApi, RejectedMessageFromJSON,
  RelayedFailureFromJSON, ResponseError,
} from './generated'

declare const process: { env: Record<string, string>, exitCode: number }

const { SERVICE_URL: basePath, SERVICE_KEY: key } = process.env
const today = new Date(new Date().toISOString().slice(0, 10))
const iso = today.toISOString().slice(0, 10)
const day = today.toUTCString().slice(5, 7) + today.toUTCString().slice(8, 11).toUpperCase()
const message = [
  'BSM', '.V/1LZRH', `.F/LX100/${day}/JFK/Y`, '.N/0724100001001', '.W/K/2/31', '.P/1MUELLER/ANNAMRS', '.L/ABC123', 'ENDBSM', '',
].join('\r\n')
const other = message.replace('LX100', 'LX101').replace('0724100001', '0724100002').replace('MUELLER', 'MEIER').replace('ABC123', 'DEF456')

// report is one that the delayed-bag system takes, if it knows the airline.
function report(airline: string): string {
  return JSON.stringify({
    WTR_DelayedBagsCreateRQ: {
      Version: 0.1,
      POS: { Source: [{ AirlineVendorID: airline }] },
      RefStationAirline: { StationCode: 'ZRH', AirlineCode: airline },
      DelayedBagGroup: {
        DelayedBags: {
          DelayedBag: [{
            ColorTypeDesc: { ColorCode: 'BK', TypeCode: '22', Descriptor: 'XXX' },
            BagTag: { LicenseNumber: { TagType: '0', IssuerCode: '724' }, TagSequence: '100001' },
          }],
        },
      },
      Passengers: {
        Names: { Name: ['MUELLER'] },
        Itinerary: { FlightSegments: { FlightSegmentOrARNK: [{ FlightAndDate: { AirlineCode: 'LX', FlightNumber: '100', Date: iso } }] } },
      },
      AgentID: 'AGENT1',
    },
  })
}

// same fails if two values differ.
function same<T>(got: T, want: T): void {
  if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${JSON.stringify(got)}, not ${JSON.stringify(want)}`)
}

// refused returns what a call is refused with: status and body.
async function refused<T>(status: number, parse: (json: unknown) => T, call: Promise<unknown>): Promise<T> {
  let answer: unknown
  try {
    answer = await call
  } catch (refusal) {
    if (!(refusal instanceof ResponseError)) throw refusal
    same(refusal.response.status, status)
    return parse(await refusal.response.json())
  }
  throw new Error(`answered: ${JSON.stringify(answer)}`)
}

// found returns an answer that is no failure.
function found<T extends object>(answer: T | Failure): T {
  if ('errors' in answer) throw new Error(JSON.stringify(answer))
  return answer
}

// nothing returns the code of an answer that is a failure.
function nothing(answer: object | Failure): string {
  if ('errors' in answer) return answer.errors[0].errorCode
  throw new Error(JSON.stringify(answer))
}

async function messages(api: MessagesApi): Promise<void> {
  const process = (bimMessage: string) => api.processbim({ processBIMRequest: { bimMessage }, details: 'true' })
  let done = await process(message)
  same([done.success, done.successCode, done.warnings], [true, 'SVCPRB037', undefined])
  done = await process(message.replace('.W/K/2', '.W/Q/2'))
  same(done.warnings?.map((w) => [w.warningCode, w.line]), [['SVCPRB025', 5]])
  const rejected = await refused(400, RejectedMessageFromJSON, process(message.replace('1LZRH', '1LQQQ')))
  same(rejected.errors.map((e) => [e.errorCode, e.line]), [['SVCPRB015', 2]])

  const create = (request: string) => api.delayedbags({ delayedBagsRequest: { request } })
  const created = await create(report('LX'))
  same([created.bags.map((b) => b.bagtag), created.recordReference.slice(0, 5)], [['0724100001'], 'ZRHLX'])
  let failed = await refused(400, RelayedFailureFromJSON, create(report('ZZ')))
  same(failed.errors[0].errorCode, failed.wTRBagsCreateRS?.errors.error[0].code)
  failed = await refused(400, RelayedFailureFromJSON, create('{}'))
  same([failed.errors[0].errorCode, failed.wTRBagsCreateRS], ['SVCSRV009', undefined])
}

async function queries(api: QueriesApi): Promise<void> {
  const flight = { airportCode: 'ZRH', arrDepIndicator: 'D', airlineCode: 'LX', flightNo: '100', depFlightDate: today } as const
  const listed = found(await api.bagsforflight(flight))
  same(listed.bags.map(({ bag }) => [bag.bagtag, bag.passengerLastName, bag.rushBagIndicator]), [['0724100001', 'MUELLER', 'N']])
  same(nothing(await api.bagsforflight({ ...flight, flightNo: '999' })), 'SVCGBF001')
  const refusal = await refused(400, FailureFromJSON, api.bagsforflight({ ...flight, airportCode: 'QQQ' }))
  same(nothing(refusal), 'SVCGBF007')

  const owned = found(await api.bagsforpassenger({ pnr: 'ABC123', depFlightDate: today }))
  same(owned.bags.map((b) => b.bagtag), ['0724100001'])
  same(nothing(await api.bagsforpassenger({ pnr: 'ZZZ999', depFlightDate: today })), 'SVCGBH002')

  const told = found(await api.history({ bagtag: '0724100001', flightDate: today, pnr: 'ABC123', paxSurname: 'MUELLER', includeBim: 'true' }))
  const first = told.events[0]
  same([told.bag.passengerLastName, first.eventCode, first.rawBimMsg], ['MUELLER', 'EXPECTED', message])
  same([first.flightInfo?.outbound?.date, first.utcDateTime], [today, first.localDateTime])
  same(told.events.some((e) => e.eventCode === 'MISHANDLED'), true)
  same(nothing(await api.history({ bagtag: '0724999999', flightDate: today })), 'SVCGBH002')
}

async function bags(api: BagsApi): Promise<void> {
  const told = (await api.listBagsOfPlate({ plate: '0724100001', date: today, fields: 'raw' })).bags[0]
  same([told.passenger?.lastName, told.legs[0].to, told.events[0].code, told.events[0].rawBimMsg], ['MUELLER', 'JFK', 'EXPECTED', message])
  same((await api.findBags({ plate: ['0724100001', '0724999999'] })).bags.map((b) => b.plate), ['0724100001'])
  const searches: BagSearch[] = [
    { pnr: 'abc123', date: today }, { lastName: 'mueller', airport: 'JFK', date: today },
    { lastName: 'MUELLER', airline: 'LX', flight: '100', date: today }, { plateEnd: '100001', airport: 'ZRH', date: today },
  ]
  for (const bagSearch of searches) {
    same((await api.searchBags({ bagSearch })).bags.map((b) => b.plate), ['0724100001'])
  }
  const problem = await refused(400, ProblemFromJSON, api.findBags({ pnr: 'ABC123' }))
  same(problem.errors?.map((e) => [e.parameter, e.code]), [['date', 'missing']])
}

async function flights(api: FlightsApi): Promise<void> {
  const listed = (await api.listFlights({ airport: 'ZRH', direction: 'D', date: today })).flights.filter((f) => f.flight === '100')
  same(listed.map((f) => [f.airline, f.to, f.bags]), [['LX', 'JFK', 1]])
  const page = await api.getFlight({ airport: 'JFK', direction: 'A', airline: 'LX', flight: '100', date: today, limit: 1 })
  same([page.flight.bags, page.next, page.bags.map((b) => [b.plate, b.legs[0].flight])], [1, undefined, [['0724100001', '100']]])
  same((await api.getAirport({ code: 'ZRH' })).timeZone, 'Europe/Zurich')
  same((await refused(404, ProblemFromJSON, api.getAirport({ code: 'QQQ' }))).status, 404)
}

async function batches(api: BatchesApi): Promise<void> {
  const sent = { messages: { messages: [{ id: '1', text: other }, { text: message.replace('1LZRH', '1LQQQ') }] } }
  const done = await api.postMessages(sent)
  const [first, second] = done.results
  same(['accepted', 'duplicate'].includes(first.verdict), true)
  same([done.rejected, first.id, second.verdict, second.diagnostics.map((d) => d.code)], [1, '1', 'rejected', ['SVCPRB015']])
  same((await api.validateMessages(sent)).accepted, 1)
}

async function main(): Promise<void> {
  // A text is sent under both names that a key can have.
  for (const apiKey of [key, (name: string) => (name === 'api_key' ? key : ''), (name: string) => (name === 'X-API-Key' ? key : '')]) {
    const place = new Configuration({ basePath, apiKey })
    await messages(new MessagesApi(place))
    await queries(new QueriesApi(place))
    await bags(new BagsApi(place))
    await flights(new FlightsApi(place))
    await batches(new BatchesApi(place))
  }
  const stranger = new MessagesApi(new Configuration({ basePath, apiKey: 'nobody' }))
  const refusal = await refused(401, FailureFromJSON, stranger.processbim({ processBIMRequest: { bimMessage: message } }))
  same(nothing(refusal), 'SVCPRB002')
}

main().catch((e) => {
  console.error(e)
  process.exitCode = 1
})
