// Reads records of the topic of changes with the SDK of CloudEvents. The file named by the first argument holds them.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cloudevents.CloudEvent;
import io.cloudevents.kafka.CloudEventDeserializer;
import java.io.File;
import java.time.OffsetDateTime;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;

class Changes {
    public static void main(String[] args) throws Exception {
        var json = new ObjectMapper();
        var records = json.readTree(new File(args[0]));
        same("records", true, records.size() > 0);
        for (JsonNode record : records) {
            var headers = new RecordHeaders();
            record.get("headers").fields().forEachRemaining(h -> headers.add(h.getKey(), h.getValue().asText().getBytes(UTF_8)));
            byte[] value = record.get("value").asText().getBytes(UTF_8);
            CloudEvent event = new CloudEventDeserializer().deserialize("bag.changes", headers, value);
            JsonNode want = record.get("event");
            same("id", want.get("id").asText(), event.getId());
            same("source", want.get("source").asText(), event.getSource().toString());
            same("type", want.get("type").asText(), event.getType());
            same("subject", want.get("subject").asText(), event.getSubject());
            same("time", OffsetDateTime.parse(want.get("time").asText()).toInstant(), event.getTime().toInstant());
            same("datacontenttype", "application/json", event.getDataContentType());
            same("data", want.get("data"), json.readTree(event.getData().toBytes()));
        }
    }

    static void same(String what, Object want, Object got) {
        if (!Objects.equals(want, got)) throw new AssertionError(what + ": " + got + ", want " + want);
    }
}
