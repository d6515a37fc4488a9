package apidoc

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
)

// asyncAPISkeleton is the AsyncAPI document without its version, and without the schema Plate, which
// AsyncAPI copies from openapi.json.
//
//go:embed asyncapi.json
var asyncAPISkeleton []byte

// AsyncAPI returns the AsyncAPI 3.0 document of the public Kafka topics. version is that of the service.
func AsyncAPI(version string) ([]byte, error) {
	var document object
	if err := json.Unmarshal(asyncAPISkeleton, &document); err != nil {
		return nil, fmt.Errorf("read the AsyncAPI document: %w", err)
	}
	var openapi struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(openAPISkeleton, &openapi); err != nil {
		return nil, fmt.Errorf("read the schemas of the OpenAPI skeleton: %w", err)
	}
	info, _ := document["info"].(object)
	components, _ := document["components"].(object)
	schemas, _ := components["schemas"].(object)
	if info == nil || schemas == nil {
		return nil, errors.New("the AsyncAPI document has no info or no schemas")
	}
	info["version"] = version
	plate, known := openapi.Components.Schemas["Plate"]
	if !known {
		return nil, errors.New("openapi.json has no schema Plate")
	}
	schemas["Plate"] = plate
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the AsyncAPI document: %w", err)
	}
	return text, nil
}
