/** The ledger's scripts as sent to Redis: each Lua file after its preludes, with its flags. */
import { createHash } from 'node:crypto'
import { inLocals, LAYOUT_TEXTS } from '@/ledger/layout'
import acknowledgeText from './acknowledge.lua' with { type: 'text' }
import creditText from './credit.lua' with { type: 'text' }
import dueText from './due.lua' with { type: 'text' }
import epochText from './epoch.lua' with { type: 'text' }
import expireText from './expire.lua' with { type: 'text' }
import loadAccountText from './load-account.lua' with { type: 'text' }
import loadBudgetsText from './load-budgets.lua' with { type: 'text' }
import loadKeyText from './load-key.lua' with { type: 'text' }
import loadPayerText from './load-payer.lua' with { type: 'text' }
import budgetsText from './preludes/budgets.lua' with { type: 'text' }
import holdsText from './preludes/holds.lua' with { type: 'text' }
import keyStateText from './preludes/key-state.lua' with { type: 'text' }
import limitsText from './preludes/limits.lua' with { type: 'text' }
import loadText from './preludes/load.lua' with { type: 'text' }
import preludeText from './preludes/prelude.lua' with { type: 'text' }
import probeText from './probe.lua' with { type: 'text' }
import readAccountText from './read-account.lua' with { type: 'text' }
import readBudgetsText from './read-budgets.lua' with { type: 'text' }
import readKeyText from './read-key.lua' with { type: 'text' }
import releaseText from './release.lua' with { type: 'text' }
import renewText from './renew.lua' with { type: 'text' }
import reserveText from './reserve.lua' with { type: 'text' }
import rightsText from './rights.lua' with { type: 'text' }
import setAccountText from './set-account.lua' with { type: 'text' }
import setKeyText from './set-key.lua' with { type: 'text' }
import settleText from './settle.lua' with { type: 'text' }
import viewAccountText from './view-account.lua' with { type: 'text' }
import viewHoldText from './view-hold.lua' with { type: 'text' }
import withholdText from './withhold.lua' with { type: 'text' }

/**
 * One script: `text` for EVAL, `sha` (SHA-1, as in Redis) for EVALSHA; `source` is the text from its files. A script that `trusts` the
 * values in Redis runs only on a verified connection. All others write values that are correct even after a loss in Redis.
 */
export type Script = { name: string; source: string; text: string; sha: string; trusts?: boolean }

/**
 * When a script is allowed. `write`: not if Redis is out of memory, so no new requests. `write-always`: even then, to resolve held money
 * and add bought credit. `read`: even if writing is impossible (full disk, replica).
 */
type Access = 'read' | 'write' | 'write-always'
const FLAGS: Record<Access, string> = { read: 'flags=no-writes', write: '', 'write-always': 'flags=allow-oom' }

const { account, key, hold } = LAYOUT_TEXTS
const reserves = [account, key, hold, limitsText]
const holds = [account, hold, limitsText, holdsText]
const charges = [key, ...holds]
const keyState = [key, limitsText, keyStateText]

/** Each script of paid requests has two versions: one with the budget code, for accounts with budgets, and one without. */
export const SCRIPTS = {
  reserveInBudgets: trusting(paid('reserve', 'write', [...reserves, budgetsText], reserveText)),
  reserve: trusting(paid('reserve', 'write', reserves, reserveText)),
  renew: script('renew', 'write-always', [hold], renewText),
  settleInBudgets: paid('settle', 'write-always', [...charges, budgetsText], settleText),
  settle: paid('settle', 'write-always', charges, settleText),
  releaseInBudgets: script('release', 'write-always', [...charges, budgetsText], releaseText),
  release: script('release', 'write-always', charges, releaseText),
  expire: trusting(script('expire', 'write-always', [...charges, budgetsText], expireText)),
  credit: script('credit', 'write-always', holds, creditText),
  withhold: trusting(script('withhold', 'write', holds, withholdText)),
  acknowledge: script('acknowledge', 'write-always', [], acknowledgeText),
  probe: script('probe', 'write', [], probeText),
  rights: script('rights', 'read', [], rightsText),
  due: script('due', 'read', [], dueText),
  epoch: script('epoch', 'write-always', [], epochText),
  loadAccount: trusting(script('load-account', 'write-always', [...charges, loadText], loadAccountText)),
  loadBudgets: trusting(script('load-budgets', 'write-always', [account, budgetsText], loadBudgetsText)),
  loadKey: trusting(script('load-key', 'write-always', [...keyState, loadText], loadKeyText)),
  loadPayer: trusting(script('load-payer', 'write-always', [account, ...keyState, loadText], loadPayerText)),
  setKey: script('set-key', 'write-always', keyState, setKeyText),
  setAccount: script('set-account', 'write-always', [account, limitsText], setAccountText),
  readAccount: trusting(script('read-account', 'read', [account], readAccountText)),
  readBudgets: trusting(script('read-budgets', 'read', [key, budgetsText], readBudgetsText)),
  readKey: trusting(script('read-key', 'read', [key], readKeyText)),
  viewAccount: trusting(script('view-account', 'read', [account, key, budgetsText], viewAccountText)),
  viewHold: script('view-hold', 'read', [hold], viewHoldText),
} as const satisfies Record<string, Script>

function trusting(one: Script): Script {
  return { ...one, trusts: true }
}

/** A script of each paid request: fields are locals, and functions that it doesn't call are left out, since each run makes them anew. */
function paid(name: string, access: Access, preludes: readonly string[], body: string): Script {
  const { source } = script(name, access, preludes, body)
  return { name, source, ...inStore(withoutUnused(source.replace(body, () => inLocals(body)))) }
}

/** Puts the shebang, the preludes and `body` together. The prelude with integers, clock and calendar is always first. */
export function script(name: string, access: Access, preludes: readonly string[], body: string): Script {
  const source = [`#!lua ${FLAGS[access]}`.trimEnd(), preludeText, ...preludes, body].join('\n')
  return { name, source, ...inStore(source) }
}

function inStore(text: string): Pick<Script, 'text' | 'sha'> {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

function withoutUnused(text: string): string {
  const uses = new Map<string, number>()
  for (const [word] of text.replace(/--.*/g, '').matchAll(/\w+/g)) uses.set(word, (uses.get(word) ?? 0) + 1)
  const rest = text.replace(/^local function (\w+)\(.*?^end\n/gms, (whole, name) => (uses.get(name) === 1 ? '' : whole))
  return rest === text ? text : withoutUnused(rest)
}
