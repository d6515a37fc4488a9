"""Calls the operations for messages, bags and flights with a client that was generated from the OpenAPI document of the service.

contract_test.go says how it is started. Names of classes are those that the generator makes of the document.
"""

import datetime
import json
import os

import bagtrail_client as generated
from bagtrail_client.exceptions import BadRequestException, NotFoundException, UnauthorizedException

DAY = datetime.datetime.now(datetime.timezone.utc).date()
MESSAGE = "\r\n".join([
    "BSM", ".V/1LZRH", f".F/LX100/{DAY:%d%b}/JFK/Y".upper(), ".N/0724100001001", ".W/K/2/31", ".P/1MUELLER/ANNAMRS",
    ".L/ABC123", "ENDBSM", ""])
OTHER = MESSAGE.replace("LX100", "LX101").replace("0724100001", "0724100002").replace("MUELLER", "MEIER").replace("ABC123", "DEF456")


def report(airline):
    """Returns a report that the delayed-bag system takes, if it knows the airline."""
    return json.dumps({"WTR_DelayedBagsCreateRQ": {
        "Version": 0.1,
        "POS": {"Source": [{"AirlineVendorID": airline}]},
        "RefStationAirline": {"StationCode": "ZRH", "AirlineCode": airline},
        "DelayedBagGroup": {"DelayedBags": {"DelayedBag": [{
            "ColorTypeDesc": {"ColorCode": "BK", "TypeCode": "22", "Descriptor": "XXX"},
            "BagTag": {"LicenseNumber": {"TagType": "0", "IssuerCode": "724"}, "TagSequence": "100001"}}]}},
        "Passengers": {
            "Names": {"Name": ["MUELLER"]},
            "Itinerary": {"FlightSegments": {"FlightSegmentOrARNK": [
                {"FlightAndDate": {"AirlineCode": "LX", "FlightNumber": "100", "Date": DAY.isoformat()}}]}}},
        "AgentID": "AGENT1"}})


def refused(exception, call, *arguments, **named):
    """Returns what a call is refused with."""
    try:
        answer = call(*arguments, **named)
    except exception as refusal:
        return refusal.data
    raise AssertionError(f"answered: {answer}")


def same(got, want):
    """Fails if two values differ."""
    assert got == want, f"{got!r}, not {want!r}"


def messages(client):
    api = generated.MessagesApi(client)
    done = api.processbim(generated.ProcessBIMRequest(bim_message=MESSAGE))
    same((done.success, done.success_code, done.warnings), (True, "SVCPRB037", None))
    done = api.processbim(generated.ProcessBIMRequest(bim_message=MESSAGE.replace(".W/K/2", ".W/Q/2")), details="true")
    same([(w.warning_code, w.line) for w in done.warnings], [("SVCPRB025", 5)])
    rejected = refused(BadRequestException, api.processbim,
                       generated.ProcessBIMRequest(bim_message=MESSAGE.replace("1LZRH", "1LQQQ")), details="true")
    same([(type(rejected), e.error_code, e.line) for e in rejected.errors], [(generated.RejectedMessage, "SVCPRB015", 2)])

    done = api.delayedbags(generated.DelayedBagsRequest(Request=report("LX")))
    same([bag.bagtag for bag in done.bags], ["0724100001"])
    assert done.record_reference.startswith("ZRHLX"), done.record_reference
    failed = refused(BadRequestException, api.delayedbags, generated.DelayedBagsRequest(Request=report("ZZ")))
    same(failed.errors[0].error_code, failed.wtr_bags_create_rs.errors.error[0].code)
    failed = refused(BadRequestException, api.delayedbags, generated.DelayedBagsRequest(Request="{}"))
    same([(e.error_code, failed.wtr_bags_create_rs) for e in failed.errors], [("SVCSRV009", None)])


def queries(client):
    api = generated.QueriesApi(client)
    listed = api.bagsforflight("ZRH", "D", "LX", "100", DAY).actual_instance
    same([(b.bag.bagtag, b.bag.passenger_last_name, b.bag.rush_bag_indicator) for b in listed.bags], [("0724100001", "MUELLER", generated.YesNo.N)])
    same(api.bagsforflight("ZRH", "D", "LX", "999", DAY).actual_instance.errors[0].error_code, "SVCGBF001")
    refusal = refused(BadRequestException, api.bagsforflight, "QQQ", "D", "LX", "100", DAY)
    same(refusal.errors[0].error_code, "SVCGBF007")

    owned = api.bagsforpassenger("ABC123", DAY).actual_instance
    same([b.bagtag for b in owned.bags], ["0724100001"])
    same(api.bagsforpassenger("ZZZ999", DAY).actual_instance.errors[0].error_code, "SVCGBH002")

    told = api.history("0724100001", DAY, pnr="ABC123", pax_surname="MUELLER", include_bim="true").actual_instance
    first = told.events[0]
    same((told.bag.passenger_last_name, first.event_code, first.raw_bim_msg, first.flight_info.outbound.var_date), ("MUELLER", "EXPECTED", MESSAGE, DAY))
    same(first.utc_date_time, first.local_date_time)
    same(first.utc_date_time.utcoffset(), datetime.timedelta(0))
    assert "MISHANDLED" in [e.event_code for e in told.events], told
    same(api.history("0724999999", DAY).actual_instance.errors[0].error_code, "SVCGBH002")


def bags(client):
    api = generated.BagsApi(client)
    told = api.list_bags_of_plate("0724100001", var_date=DAY, fields="raw").bags[0]
    same((told.passenger.last_name, told.legs[0].to, told.events[0].code, told.events[0].raw_bim_msg), ("MUELLER", "JFK", "EXPECTED", MESSAGE))
    same(told.changed.utcoffset(), datetime.timedelta(0))
    same([b.plate for b in api.find_bags(plate=["0724100001", "0724999999"]).bags], ["0724100001"])
    for search in (generated.BagSearch(pnr="abc123", date=DAY), generated.BagSearch(last_name="mueller", airport="JFK", date=DAY),
                   generated.BagSearch(last_name="MUELLER", airline="LX", flight="100", date=DAY),
                   generated.BagSearch(plate_end="100001", airport="ZRH", date=DAY)):
        same([b.plate for b in api.search_bags(search).bags], ["0724100001"])
    problem = refused(BadRequestException, api.find_bags, pnr="ABC123")
    same((problem.status, [(e.parameter, e.code) for e in problem.errors]), (400, [("date", "missing")]))


def flights(client):
    api = generated.FlightsApi(client)
    listed = [f for f in api.list_flights("ZRH", "D", DAY).flights if f.flight == "100"]
    same([(f.airline, f.to, f.bags, sum(f.status.values())) for f in listed], [("LX", "JFK", 1, 1)])
    page = api.get_flight("JFK", "A", "LX", "100", DAY, limit=1)
    same((page.flight.bags, page.next, [(b.plate, b.legs[0].flight) for b in page.bags]), (1, None, [("0724100001", "100")]))
    same(api.get_airport("ZRH").time_zone, "Europe/Zurich")
    same(refused(NotFoundException, api.get_airport, "QQQ").status, 404)


def batches(client):
    api = generated.BatchesApi(client)
    sent = generated.Messages(messages=[generated.MessagesMessagesInner(id="1", text=OTHER),
                                        generated.MessagesMessagesInner(text=MESSAGE.replace("1LZRH", "1LQQQ"))])
    done = api.post_messages(sent)
    first, second = done.results
    assert first.verdict in ("accepted", "duplicate"), first
    same((done.rejected, first.id, second.verdict, [d.code for d in second.diagnostics]), (1, "1", "rejected", ["SVCPRB015"]))
    same(api.validate_messages(sent).accepted, 1)


def main():
    place = generated.Configuration(host=os.environ["SERVICE_URL"])
    for scheme in "api_key", "x_api_key":
        place.api_key = {scheme: os.environ["SERVICE_KEY"]}
        with generated.ApiClient(place) as client:
            messages(client)
            queries(client)
            bags(client)
            flights(client)
            batches(client)
    place.api_key = {"api_key": "nobody"}
    with generated.ApiClient(place) as client:
        refusal = refused(UnauthorizedException, generated.MessagesApi(client).processbim, generated.ProcessBIMRequest(bim_message=MESSAGE))
        same(refusal.errors[0].error_code, "SVCPRB002")


main()
