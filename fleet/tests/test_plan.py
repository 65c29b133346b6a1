"""Which agents a run needs, and the message for a cluster that has no nodes for them."""

import unittest

from bookend_fleet.plan import Place, has_flag, missing, places

SERVER = {"part": "server"}
GENERATOR = {"part": "generator"}


class Words(unittest.TestCase):
    def test_a_flag_is_found_alone_and_with_its_value(self) -> None:
        self.assertTrue(has_flag(["--probe-rate", "5"], "--probe-rate"))
        self.assertTrue(has_flag(["-c", "1", "--probe-rate=5"], "--probe-rate"))

    def test_a_longer_flag_is_another(self) -> None:
        self.assertFalse(has_flag(["--probe-rate-limit", "5"], "--probe-rate"))

    def test_generators_alone_are_the_plan_of_plain_words(self) -> None:
        self.assertEqual(
            places(["-c", "1"], 2, SERVER, GENERATOR),
            [Place("load", "load-1", GENERATOR), Place("load", "load-2", GENERATOR)],
        )

    def test_a_server_and_a_probe_get_places_of_their_own(self) -> None:
        for words in (["--server-agent"], ["--start-server", "a b"], ["--start-server=a b"]):
            planned = places([*words, "--probe-rate=5"], 1, SERVER, GENERATOR)
            asked = [(place.role, place.labels) for place in planned]
            self.assertEqual(asked, [("server", SERVER), ("probe", GENERATOR), ("load", GENERATOR)])


class Missing(unittest.TestCase):
    needed = places(["--server-agent"], 1, SERVER, {})

    def test_what_is_needed_and_what_there_is_are_named_with_their_labels(self) -> None:
        labels = {"ray.io/node-id": "1f", "part": "client"}
        sentence = missing(self.needed, [{"NodeManagerAddress": "192.0.2.7", "Labels": labels}])
        self.assertIn("needs 2 nodes", sentence)
        self.assertIn("for server (part=server), load-1; there is 192.0.2.7 (part=client): start", sentence)

    def test_a_cluster_without_other_nodes_is_named_so(self) -> None:
        self.assertIn("there is no other node", missing(self.needed, []))


if __name__ == "__main__":
    unittest.main()
