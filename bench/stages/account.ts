/** Gives every microsecond of a request an owner: the stages that were measured alone, and what is left between them. */
import { median } from '@bench/report/statistics'
import { SERVER, STREAM, STUBBED, WHOLE, WHOLE_ALONE, WITH_LEDGER, WITH_UPSTREAM } from './ladder'
import type { Rounds } from './measure'
import { ANSWERED, HARNESS, RESERVE_AND_SETTLE, ROUTED, SETTLER, UPSTREAM, UPSTREAM_STUBBED } from './pieces'
import { PIECES_OF_A_STREAM } from './stream-pieces'

/** Microseconds on the machine that the budget was made for. The parts between two sums add up to what they differ by. */
export type Stage = { name: string; microseconds: number; kind: 'part' | 'sum' | 'piece' }

/** Stages that are measured alone and end inside the process. */
const ALONE = [
  ...['auth', 'body', 'decode request', 'plan', 'failover', 'encode request', UPSTREAM_STUBBED, 'decode answer'],
  ...[SETTLER, 'metrics', 'log'],
]

/** `slowness`: how much longer this machine takes than the one of the budget. */
export function accountFor(rounds: Rounds, slowness: number): Stage[] {
  const measured = (name: string) => median(rounds.get(name) ?? []) / slowness
  const part = (name: string, microseconds: number): Stage => ({ name, microseconds, kind: 'part' })
  const sum = (name: string, microseconds = measured(name)): Stage => ({ name, microseconds, kind: 'sum' })
  const alone = ALONE.map((name) => part(name, measured(name) - (name === 'body' ? measured(HARNESS) : 0)))
  const known = alone.reduce((total, stage) => total + stage.microseconds, 0)
  const answered = measured(ANSWERED) - measured(HARNESS)
  const routed = measured(ROUTED) - measured(HARNESS)
  const pieces = [...rounds.keys()].filter((name) => name.startsWith('piece: '))
  return [
    ...alone,
    part('use case: what is left between its stages', answered - known),
    sum(ANSWERED, answered),
    part('routes', routed - answered),
    part(SERVER, measured(SERVER)),
    part('server: what it adds with all that the use case asks of it', measured(STUBBED) - routed - measured(SERVER)),
    sum(STUBBED),
    part('network of the upstream call', measured(WITH_UPSTREAM) - measured(STUBBED)),
    sum(WITH_UPSTREAM),
    part(RESERVE_AND_SETTLE, measured(RESERVE_AND_SETTLE)),
    part(
      'ledger: within the whole, beside alone',
      measured(WITH_LEDGER) - measured(WITH_UPSTREAM) - measured(RESERVE_AND_SETTLE),
    ),
    sum(WITH_LEDGER),
    part('flusher', measured(WHOLE) - measured(WITH_LEDGER)),
    sum(WHOLE),
    sum(WHOLE_ALONE),
    sum(UPSTREAM),
    sum(STREAM),
    ...pieces.map((name): Stage => ({ name, microseconds: measured(name) / PIECES_OF_A_STREAM, kind: 'piece' })),
  ]
}
