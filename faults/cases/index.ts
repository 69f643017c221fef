/** Every fault of the suite, in the order in which they are played. */
import type { Fault } from '@faults/fault'
import { c1 } from './c01-hang-ups'
import { c2 } from './c02-slow-readers'
import { c3 } from './c03-abort-leak'
import { c4 } from './c04-overdraft-race'
import { c5 } from './c05-duplicate-resolutions'
import { c7 } from './c07-revocation'
import { c10 } from './c10-edits'
import { c12 } from './c12-overload'
import { c13 } from './c13-repeats'
import { c14 } from './c14-neighbours'
import { c15 } from './c15-each-neighbour'
import { f1 } from './f01-gateway-killed'
import { f2 } from './f02-crash-points'
import { f3 } from './f03-drain'
import { f4, f4Caddy, f4Processes } from './f04-rolling-restart'
import { f5, f5Always } from './f05-redis-killed'
import { f6 } from './f06-power-loss'
import { f6Snapshot } from './f06-snapshot-only'
import { f6Machine } from './f06-whole-machine'
import { f7 } from './f07-torn-file'
import { f8, f8Disk } from './f08-empty-store'
import { f9, f9Guarded } from './f09-failover'
import { f9Sentinel } from './f09-sentinel'
import { f10, f10Replica } from './f10-dead-master'
import { f11 } from './f11-resharding'
import { f12, f12Paused } from './f12-hung-store'
import { f13 } from './f13-out-of-memory'
import { f15 } from './f15-lost-replies'
import { f16, f16Crowded, f16Hung } from './f16-history-down'
import { f17 } from './f17-flusher-killed'
import { f18 } from './f18-poison'
import { f19 } from './f19-frozen-gateway'
import { f20 } from './f20-reset-connections'
import { f22 } from './f22-clocks'
import { u1 } from './u01-unreachable'
import { u2 } from './u02-silence'
import { u3 } from './u03-broken-off'
import { u4 } from './u04-no-terminator'
import { u5 } from './u05-torn-events'
import { u6 } from './u06-false-usage'
import { u7 } from './u07-no-usage'
import { u8 } from './u08-refusals'
import { u9 } from './u09-error-in-stream'
import { u10 } from './u10-stale-connections'
import { u11 } from './u11-floods'
import { u12 } from './u12-mixed-up'

const PROCESS_FAULTS = [f1, f2, f3, f4, f4Processes, f4Caddy, f17, f18, f19, f22]
const STORE_FAULTS = [
  f5,
  f5Always,
  ...f6,
  f6Machine,
  f6Snapshot,
  f7,
  f8,
  f8Disk,
  f12,
  f12Paused,
  f13,
  f15,
  f16,
  f16Hung,
  f16Crowded,
  f20,
  f9Guarded,
  f9,
]

const UPSTREAM_FAULTS = [u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11, u12]
const CLIENT_FAULTS = [c1, c2, c3, c4, c5, c7, c10, c12, c13, c14, ...c15]
const CLUSTER_FAULTS = [f11, f10, f10Replica]

export const FAULTS: readonly Fault[] = [
  ...UPSTREAM_FAULTS,
  ...CLIENT_FAULTS,
  ...PROCESS_FAULTS,
  ...STORE_FAULTS,
  ...CLUSTER_FAULTS,
  f9Sentinel,
]
