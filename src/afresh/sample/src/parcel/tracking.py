"""What happened to a parcel, told from the events that the carrier reports."""

from collections.abc import Iterable

FINAL = ("delivered", "returned", "lost")


def summarise(events: Iterable[str]) -> dict[str, object]:
    """Fold lines such as `2024-05-01 handed_over Hamburg` into one state; malformed lines are counted, not fatal."""
    state: dict[str, object] = {"status": "unknown", "place": "", "attempts": 0, "skipped": 0, "since": ""}
    places: list[str] = []
    for event in events:
        parts = event.split(maxsplit=2)
        if len(parts) < 2 or len(parts[0]) != 10:
            state["skipped"] = int(str(state["skipped"])) + 1
            continue
        if state["status"] in FINAL:
            state["skipped"] = int(str(state["skipped"])) + 1
            continue
        date, status = parts[0], parts[1].lower()
        if status == "attempted":
            state["attempts"] = int(str(state["attempts"])) + 1
            if int(str(state["attempts"])) >= 3:
                status = "returned"
        elif status not in ("announced", "handed_over", "transit", "customs", *FINAL):
            state["skipped"] = int(str(state["skipped"])) + 1
            continue
        state["status"], state["since"] = status, date
        if len(parts) == 3:
            place = parts[2].strip()
            if not places or places[-1] != place:
                places.append(place)
            state["place"] = place

    # Describe the delivery
    if state["status"] == "delivered":
        message = f"delivered in {state['place']}" if places else "delivered"
    elif state["status"] == "lost":
        message = "lost" if not places else f"lost after {places[-1]}"
    elif state["attempts"]:
        message = f"{state['attempts']} attempts so far"
    else:
        message = " → ".join(places)

    state["message"] = message
    return state
