"""Reads records of the topic of changes with both interfaces of the SDK of CloudEvents. The file named by the first argument holds them."""

import json
import sys
from datetime import datetime

from cloudevents.core.bindings import kafka
from cloudevents.v1 import kafka as kafka_v1
from dateutil.parser import isoparse

with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
for record in records:
    headers = {name: value.encode() for name, value in record["headers"].items()}
    key, value, want = record["key"].encode(), record["value"].encode(), record["event"]
    time = isoparse(want["time"])

    event = kafka.from_kafka_event(kafka.KafkaMessage(headers, key, value))
    assert event.get_id() == want["id"], event.get_id()
    assert event.get_source() == want["source"], event.get_source()
    assert event.get_type() == want["type"], event.get_type()
    assert event.get_subject() == want["subject"], event.get_subject()
    assert isinstance(event.get_time(), datetime) and event.get_time() == time, event.get_time()
    assert event.get_data() == want["data"], event.get_data()
    assert event.get_datacontenttype() == "application/json", event.get_datacontenttype()
    assert event.get_extension("partitionkey") == record["key"], event.get_attributes()

    event = kafka_v1.from_structured(kafka_v1.KafkaMessage(headers, key, value))
    for name in ["id", "source", "type", "subject"]:
        assert event[name] == want[name], event
    assert isoparse(event["time"]) == time, event
    assert event.get_data() == want["data"], event
assert records
