"""Streams over real connections: each event once and in order, whatever happens on the way."""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from random import Random
from signal import SIGKILL, SIGTERM
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx
import pytest

from shared.eventstore.postgres import PostgresStore
from shared.eventstore.store import NewEvent
from shared.http.fanout import MOST_WAITING, PAGE
from shared.local.process import end
from shared.local.valkey import LocalValkey
from tests.api.croupier import Croupier, House, Json
from tests.api.listening import LOG, Heard, hear, ids, listening, table
from tests.conftest import Cluster, Mortal
from tests.crash.load import Load
from tests.eventstore.appends import a_command

TABLES = [f"table-{number}" for number in range(8)]
THE_END = "the-end"


def the_end(path: str) -> Callable[[Heard], bool]:
    """What `finish` adds to a stream."""
    if path == LOG:
        return lambda heard: heard.data["stream"] == f"vault-{THE_END}"
    return lambda heard: heard.type == "blackjack.table_closed"


def at(position: int) -> Callable[[Heard], bool]:
    return lambda heard: heard.id is not None and heard.id >= position


def finish(house: House) -> list[Json]:
    """Closes all tables and writes the last event; the whole log."""
    for name in TABLES:
        house.do(name, "close")
    house.grant(THE_END, 1)
    return list(house.walk("/v1/events", limit=1000))


def expected(log: list[Json], path: str, after: int = 0) -> list[Heard]:
    """What a stream tells of that log after a position."""
    name = path.split("/")[3]
    return [
        Heard(entry["position"], entry["event"]["type"], entry)
        for entry in log
        if entry["position"] > after and (path == LOG or entry["stream"] == f"table-{name}")
    ]


async def record(house: House, *streams: str, bytes_each: int = 100) -> int:
    """Events of no meaning straight into the log, an event for each name; the position then."""
    events = [
        NewEvent(stream, "test.happened", 1, b'{"of":"%b"}' % (b"x" * bytes_each), ())
        for stream in streams
    ]
    async with PostgresStore(house.croupier.database.app_url) as store:
        head = (await store.head(house.name)).position
        await store.append_batch(house.name, [a_command(f"after-{head}", *events)])
    return head + len(events)


async def test_everybody_hears_every_event_once_and_in_order_while_eight_play(
    house: House,
) -> None:
    """Some listen from the start, others come later; all of them hear the same."""
    load = Load(house, players=8)
    paths = [LOG] * 4 + [table(name) for name in TABLES] * 2
    heard: list[tuple[str, asyncio.Task[list[Heard]]]] = []
    async with house.crowd() as http, asyncio.TaskGroup() as listeners:
        async with load.running():
            for _ in range(4):
                for path in paths:
                    task = listeners.create_task(hear(http, path, until=the_end(path)))
                    heard.append((path, task))
                await load.until_answered(100)
        log = await asyncio.to_thread(finish, house)

    assert len(log) > 500
    for path, task in heard:
        assert task.result() == expected(log, path)


async def test_whoever_is_cut_off_again_and_again_misses_nothing(house: House) -> None:
    load = Load(house, players=8)
    async with house.crowd() as http, asyncio.TaskGroup() as listeners:
        async with load.running():
            heard = [
                (path, listeners.create_task(_with_interruptions(http, path, Random(number))))
                for number, path in enumerate([LOG, LOG, *map(table, TABLES)])
            ]
            await load.until_answered(300)
        log = await asyncio.to_thread(finish, house)

    for path, task in heard:
        assert task.result() == expected(log, path)


async def _with_interruptions(http: httpx.AsyncClient, path: str, chance: Random) -> list[Heard]:
    """Leaves after some events and comes back with the id of the last."""
    heard: list[Heard] = []
    is_over = the_end(path)
    while not heard or not is_over(heard[-1]):
        stays = len(heard) + chance.randint(1, 40)
        async with listening(http, path, heard[-1].id if heard else None) as stream:
            async for each in stream:
                if each.type:
                    heard.append(each)
                if heard and (len(heard) == stays or is_over(heard[-1])):
                    break
    return heard


@pytest.mark.parametrize("after", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE - 1, 3 * PAGE])
async def test_the_log_resumes_at_any_point(after: int, house: House) -> None:
    await record(house, *["vault-ada"] * (3 * PAGE + 1))

    async with house.crowd() as http:
        resumed = await hear(http, LOG, after, until=at(3 * PAGE + 1))
        begun = await hear(http, f"{LOG}?after={after}", until=at(3 * PAGE + 1))

    assert ids(resumed) == ids(begun) == list(range(after + 1, 3 * PAGE + 2))


async def test_a_table_resumes_at_any_position_of_the_log(house: House) -> None:
    """Also at one that is another table's."""
    streams = ["table-oak", "table-elm", "table-oak", "table-oak", "table-elm", "table-oak"]
    await record(house, *streams)

    async with house.crowd() as http:
        heard = [await hear(http, table("oak"), after, until=at(6)) for after in range(6)]

    oak = [1, 3, 4, 6]
    assert list(map(ids, heard)) == [[id for id in oak if id > after] for after in range(6)]


async def test_the_last_id_goes_before_the_address(house: House) -> None:
    await record(house, *["table-oak"] * 9)

    async with house.crowd() as http:
        for path in (LOG, table("oak")):
            assert ids(await hear(http, f"{path}?after=2", 7, until=at(9))) == [8, 9]


async def test_a_view_and_the_stream_from_its_position_are_the_whole_story(house: House) -> None:
    house.seat("oak", "ada", "bob")
    seen = house.get("/v1/tables/oak")
    house.deal("oak", 20, 20)

    async with house.crowd() as http:
        path = f"{table('oak')}?after={seen['position']}"
        heard = await hear(http, path, until=at(house.get("/v1/tables/oak")["position"]))

    assert heard[0].data["version"] == seen["version"] + 1
    assert heard == expected(list(house.walk("/v1/events")), table("oak"), seen["position"])


async def test_another_house_hears_nothing_of_it(house: House, other_house: House) -> None:
    async with other_house.crowd() as http, asyncio.TaskGroup() as both:
        theirs = both.create_task(hear(http, LOG, until=at(1)))
        table_of_theirs = both.create_task(hear(http, table("oak"), until=at(2)))
        await record(house, *["table-oak"] * 5)
        await record(other_house, "vault-ada", "table-oak")

    assert [each.data["stream"] for each in theirs.result()] == ["vault-ada"]
    assert ids(table_of_theirs.result()) == [2]


@pytest.mark.parametrize("last", ["", "x", "-1", "1.5", str(2**60), "1\t2"])
def test_an_id_that_was_never_given_is_refused(last: str, house: House) -> None:
    for path in (LOG, table("oak")):
        refused = house.ask("GET", path, headers={"Last-Event-ID": last})
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/malformed")


async def test_a_slow_reader_is_dropped_with_a_last_event_and_resumes(house: House) -> None:
    """A quick one beside it makes sure that all has been handed on before the slow one reads."""
    end = await record(house, "vault-ada")
    async with house.crowd() as http, listening(http, LOG) as slow, listening(http, LOG) as quick:
        heard = [await _until(slow, at(end)), await _until(quick, at(end))]
        while end < 2.5 * MOST_WAITING:
            end = await record(house, *["vault-ada"] * 500, bytes_each=2500)
            await _until(quick, at(end))
        heard = [heard[0], *[each async for each in slow if each.type]]
        *told, last = heard
        resumed = await hear(http, LOG, told[-1].id, until=at(end))

    assert (last.id, last.type, last.data["type"]) == (None, "dropped", "/problems/too-slow")
    assert ids(told) + ids(resumed) == list(range(1, end + 1))
    assert resumed


async def _until(stream: AsyncIterator[Heard], last: Callable[[Heard], bool]) -> Heard:
    async for each in stream:
        if each.type and last(each):
            return each
    raise AssertionError("The stream has ended.")


@pytest.fixture
def desk(cluster: Cluster, http: httpx.Client) -> Iterator[Croupier]:
    """A croupier for one test alone, to be stopped."""
    database = cluster.create()
    with Croupier(database) as running:
        yield running
    cluster.drop(database)


async def test_a_server_that_stops_says_so_at_once_and_after_it_is_back_streams_resume(
    desk: Croupier, http: httpx.Client
) -> None:
    house = House(desk, http)
    await record(house, *["table-oak"] * 5)

    async with house.crowd() as crowd, asyncio.TaskGroup() as listeners:
        heard = [
            listeners.create_task(hear(crowd, path, until=lambda each: each.type == "stopping"))
            for path in [LOG, table("oak")] * 20
        ]
        for path in (LOG, table("oak")):
            await hear(crowd, path, until=at(5))
        await asyncio.to_thread(desk.end, SIGTERM)
    for task in heard:
        *told, last = task.result()
        assert ids(told) == [1, 2, 3, 4, 5]
        assert (last.id, last.data["type"]) == (None, "/problems/stopping")

    desk.start()
    await record(house, "table-oak")
    async with house.crowd() as crowd:
        assert ids(await hear(crowd, LOG, 5, until=at(6))) == [6]


@pytest.fixture
def redis() -> Iterator[LocalValkey]:
    with TemporaryDirectory(prefix="croupier-redis-") as home:
        server = LocalValkey(Path(home))
        server.start()
        yield server
        server.stop()


async def test_redis_may_die_in_mid_stream_between_two_processes(
    cluster: Cluster, redis: LocalValkey, http: httpx.Client
) -> None:
    """With Redis and without it, what is played at one process is heard at the other."""
    with Croupier(cluster.create(), redis.url()) as one, one.twin() as other:
        house = House(one, http)
        load = Load(house, players=8)
        async with house.crowd() as there, asyncio.TaskGroup() as listeners:
            there.base_url = httpx.URL(other.address)
            heard = [
                (path, listeners.create_task(hear(there, path, until=the_end(path))))
                for path in [LOG, *map(table, TABLES)] * 4
            ]
            async with load.running():
                await load.until_answered(100)
                end(redis.pid, SIGKILL)
                await load.until_answered(100)
            log = await asyncio.to_thread(finish, house)

    assert load.troubles == []
    for path, task in heard:
        assert task.result() == expected(log, path)


async def test_postgres_may_restart_in_mid_stream(mortal: Mortal, http: httpx.Client) -> None:
    with Croupier(mortal.database) as croupier:
        house = House(croupier, http)
        last = await record(house, "vault-ada")
        async with house.crowd() as crowd, listening(crowd, LOG) as stream:
            await _until(stream, at(last))
            await asyncio.to_thread(mortal.kill)
            await asyncio.to_thread(mortal.start)
            last = await record(house, "vault-ada")

            assert (await _until(stream, at(last))).id == 2


IDLE = 2000
MOST_MEMORY_A_CLIENT = 64 * 1024


@pytest.fixture
def many_files() -> Iterator[None]:
    """A process may have as many open files as clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < IDLE + 500:
        pytest.skip(f"This machine allows {hard} open files.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
async def test_two_thousand_idle_clients_are_no_burden_to_one_process(
    desk: Croupier, http: httpx.Client
) -> None:
    house = House(desk, http)
    house.seat("oak", "ada")
    before = _memory(desk.pid)
    clients = [await _connect(house, LOG if n % 2 else table("oak"), n % 3) for n in range(IDLE)]

    assert (_memory(desk.pid) - before) / IDLE < MOST_MEMORY_A_CLIENT
    async with asyncio.timeout(60), asyncio.TaskGroup() as all_of_them:
        house.do("oak", "bet", seat=1, amount=20)
        for reader, _ in clients:
            all_of_them.create_task(reader.readuntil(b"blackjack.bet_placed"))
    for _, writer in clients:
        writer.close()


async def _connect(
    house: House, path: str, after: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client as small as can be, who has heard all there is."""
    address = urlsplit(house.croupier.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {address.netloc}",
        f"Authorization: Bearer {house.key}",
        f"Last-Event-ID: {after}",
    )
    writer.write("\r\n".join((*lines, "", "")).encode())
    await reader.readuntil(b"blackjack.player_sat")
    return reader, writer  # who drops the writer hangs up


def _memory(pid: int) -> int:
    """The bytes that a process and its children hold."""
    process = Path(f"/proc/{pid}")
    pages = int((process / "statm").read_text().split()[1])
    children = (process / "task" / str(pid) / "children").read_text().split()
    return pages * resource.getpagesize() + sum(_memory(int(child)) for child in children)
