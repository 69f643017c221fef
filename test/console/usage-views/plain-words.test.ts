/** The texts of rules and flags in one usage record may not contradict each other. */
import { expect, test } from 'bun:test'
import { FLAG_WORDS, RULE_WORDS } from '@/console/usage-views/plain-words'
import { BILLING_RULES } from '@/ledger/usage-record'

test('the text of a record with reported usage does not say that the usage is missing', () => {
  const reported = BILLING_RULES.filter((rule) => rule.endsWith('usage'))
  expect(reported.length).toBe(4)
  for (const rule of reported) expect(RULE_WORDS[rule]).toMatch(/usage (that the provider|it) (had )?reported/)
  expect(FLAG_WORDS.estimated).not.toMatch(/\b(none|no usage|nothing)\b/)
})
