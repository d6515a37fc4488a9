package ingestor

import "bagtrail/internal/strictjson"

// DecodeDocument returns the message in a document {"bim_message": "…"}. It returns false if the
// document is not exactly one JSON object, or if bim_message is absent, repeated or no string.
// Other members are ignored.
func DecodeDocument(document string) (message string, ok bool) {
	message, err := strictjson.StringMember([]byte(document), "bim_message")
	return message, err == nil
}
