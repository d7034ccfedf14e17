"""Runs its own unit tests, one of which fails."""
import unittest
from unittest import mock

import torch


class Case(unittest.TestCase):
    def setUp(self):
        self.x = torch.ones(2)

    def test_good(self):
        self.assertEqual(tuple((self.x * 2).shape), (2,))
        with mock.patch("torch.ones", return_value=3) as patched:
            self.assertEqual(torch.ones(5), 3)
        patched.assert_called_once_with(5)

    def test_raises(self):
        with self.assertRaisesRegex(RuntimeError, "size of tensor"):
            self.x + torch.ones(3)
        with self.assertWarns(UserWarning), self.assertLogs("a", "INFO"):
            import logging
            import warnings

            warnings.warn("w")
            logging.getLogger("a").info("i")

    def test_fails(self):
        self.assertEqual(self.x.sum().item(), 3, "sum of {}".format(self.x))

    @unittest.skip("not today")
    def test_skipped(self):
        pass




class Result(unittest.TestResult):
    last = None

    def addFailure(self, test, error):
        print(test, self._exc_info_to_string(error, test))


suite = unittest.defaultTestLoader.loadTestsFromTestCase(Case)
result = Result()
suite.run(result)
print(result.testsRun, len(result.skipped), result.errors)
