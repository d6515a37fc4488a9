package apidoc

import (
	_ "embed"

	"bagtrail/internal/strictjson"
)

// asyncAPISkeleton is the AsyncAPI document without its version, and without the schemas Plate and
// Diagnostic, which asyncAPIDocument copies from openapi.json.
//
//go:embed asyncapi.json
var asyncAPISkeleton []byte

// asyncAPIDocument returns the AsyncAPI 3.0 document of the public Kafka topics. version is that of
// the service.
func asyncAPIDocument(version string) []byte {
	var document, openapi object
	decode(asyncAPISkeleton, &document)
	decode(openAPISkeleton, &openapi)
	document["info"].(object)["version"] = version
	schemas := func(of object) object { return of["components"].(object)["schemas"].(object) }
	for _, shared := range []string{"Plate", "Diagnostic"} {
		schemas(document)[shared] = schemas(openapi)[shared]
	}
	return strictjson.Encode(document)
}
