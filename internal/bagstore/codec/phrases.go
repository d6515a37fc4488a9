package codec

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// The codes of a packed text. A byte below page stands for a phrase of the dictionary.
const (
	page   = 0xfc // 0xfc to 0xfe: stands for a phrase together with the next byte
	escape = 0xff // the next byte stands for itself
)

// widest is the length of the longest phrase, in bytes.
const widest = 15

// dictionary1Text has one phrase on each line, as a Go string literal. The phrases with a code of
// one byte come first. Their line ends are LF.
//
//go:embed dictionary-1.txt
var dictionary1Text string

// phrases packs and unpacks texts. The number of a phrase is its line in the dictionary, from 0.
type phrases struct {
	list    [page + 3<<8]phrase
	class   [256]uint8 // of each byte: its number among the bytes of phrases, from 1; 0 if no phrase has it
	classes uint8
	tree    []node // tree[0] is the root
}

// phrase is a text of at most widest bytes; the last byte is its length, or 0 if there is no
// phrase. Its fixed size lets decode copy a phrase at once.
type phrase [widest + 1]byte

// node stands for a prefix of phrases.
type node struct {
	next   [64]uint16 // the longer prefix, as an index into tree, by the class of its next byte; 0 for none
	phrase int16      // the phrase that ends here, or -1
}

// loadPhrases reads the dictionary for texts with the given line end.
func loadPhrases(lineEnd string) *phrases {
	p := &phrases{tree: []node{{phrase: -1}}}
	for number, line := range strings.Split(strings.TrimSpace(dictionary1Text), "\n") {
		text, err := strconv.Unquote(line)
		if text = strings.ReplaceAll(text, "\n", lineEnd); err != nil || text == "" || len(text) > widest || number >= len(p.list) {
			panic("codec: dictionary 1, line " + strconv.Itoa(number+1))
		}
		p.list[number][widest] = uint8(copy(p.list[number][:], text))
		p.insert(text, int16(number))
	}
	if int(p.classes) >= len(node{}.next) {
		panic("codec: dictionary 1 holds too many different bytes")
	}
	return p
}

// insert adds a phrase. loadPhrases checks afterwards that there are fewer than 64 classes.
func (p *phrases) insert(text string, number int16) {
	at := uint16(0)
	for i := range len(text) {
		if p.class[text[i]] == 0 {
			p.classes++
			p.class[text[i]] = p.classes
		}
		next := p.tree[at].next[p.class[text[i]]&63]
		if next == 0 {
			next = uint16(len(p.tree))
			p.tree[at].next[p.class[text[i]]&63] = next
			p.tree = append(p.tree, node{phrase: -1})
		}
		at = next
	}
	p.tree[at].phrase = number
}

// append packs text and appends it to dst. At each position it takes the longest phrase.
func (p *phrases) append(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		number, n, at := int16(-1), 1, &p.tree[0]
		for j := i; j < len(text); j++ {
			next := at.next[p.class[text[j]]&63]
			if next == 0 {
				break
			}
			if at = &p.tree[next]; at.phrase >= 0 {
				number, n = at.phrase, j+1-i
			}
		}
		switch {
		case number < 0:
			dst = append(dst, escape, text[i])
		case number < page:
			dst = append(dst, byte(number))
		default:
			number -= page
			dst = append(dst, page+byte(number>>8), byte(number))
		}
		i += n
	}
	return dst
}

// decode unpacks a text and appends it to dst.
func (p *phrases) decode(dst []byte, packed string) ([]byte, error) {
	at := len(dst)
	room := slices.Grow(dst, (len(packed)+1)*(widest+1))
	room = room[:cap(room)]
	for i := 0; i < len(packed); i++ {
		number := uint(packed[i])
		if number >= page {
			if i++; i == len(packed) {
				return dst, ErrDamaged
			}
			if number == escape {
				room[at] = packed[i]
				at++
				continue
			}
			number = page + (number-page)<<8 + uint(packed[i])
		}
		if p.list[number][widest] == 0 {
			return dst, ErrDamaged
		}
		*(*phrase)(room[at:]) = p.list[number]
		at += int(p.list[number][widest])
	}
	return room[:at], nil
}
