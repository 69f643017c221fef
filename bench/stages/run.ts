/** `bun run bench --stages`: processor time of one paid JSON request, stage by stage, in one process on real stores. */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Shot } from '@bench/load/job'
import { removeFolder, temporaryFolder } from '@bench/machine/folder'
import { startLoadClient } from '@bench/machine/load-client'
import { openStores } from '@bench/machine/stores'
import { startMockUpstream } from '@bench/machine/upstream'
import { ANSWERS } from '@bench/mock/answers'
import { gatewayShot } from '@bench/peers/gateway'
import type { Traffic } from '@bench/peers/peer'
import { median } from '@bench/report/statistics'
import { assert } from '@/lib/assert'
import { accountFor, type Stage } from './account'
import { type OpenGateway, openGateway } from './gateway'
import { buildSteps, measureSteps, warmUpSteps } from './ladder'
import { calibrate, measureRound, type Rounds, warmUp } from './measure'
import { localPieces, remotePieces, stubbedPieces } from './pieces'
import { recordOne } from './recording'
import { prepareSample } from './sample'
import { streamPieces } from './stream-pieces'

const CUSTOMERS = 300
const TRAFFIC: Traffic = {
  ...{ client: 'chat-completions', provider: 'chat-completions', model: 'json', stream: false },
  promptBytes: 1024,
}

/** What was measured: stages on the budget's machine, and the calibration of this one. */
type StagesResult = { stages: Stage[]; calibrationMicroseconds: number; rounds: Rounds }

/** Measures; `budgetCalibration` is what the calibration took on the budget's machine. */
export async function measureStages(
  rounds: number,
  budgetCalibration: number,
  say: (line: string) => void,
): Promise<StagesResult> {
  const folder = await temporaryFolder('svc-gateway-stages-')
  const log = openSync(join(folder, 'gateway.log'), 'a')
  const [stores, upstream] = await Promise.all([openStores(folder, CUSTOMERS), startMockUpstream()])
  const client = startLoadClient()
  try {
    const open = await openGateway(stores, upstream.port, log)
    const shot = (port: number, stream: boolean): Shot =>
      gatewayShot({ ...TRAFFIC, ...(stream && { stream, model: 'stream-100-10' }) }, port, stores.keys)
    const measured = await measureGateway(open, { client, shot, key: stores.keys[0] ?? '', rounds, say })
    await open.close()
    const calibrationMicroseconds = median(measured.calibrations)
    return {
      stages: accountFor(measured.rounds, calibrationMicroseconds / budgetCalibration),
      ...{ calibrationMicroseconds, rounds: measured.rounds },
    }
  } finally {
    await Promise.all([client.stop(), upstream.stop(), stores.close()])
    closeSync(log)
    removeFolder(folder)
  }
}

type Surroundings = {
  client: ReturnType<typeof startLoadClient>
  shot(port: number, stream: boolean): Shot
  key: string
  rounds: number
  say(line: string): void
}

async function measureGateway(open: OpenGateway, { client, shot, key, rounds: count, say }: Surroundings) {
  const { deps } = open.gateway
  const sample = await prepareSample(deps, shot(0, false), key)
  const recording = await recordOne(deps, sample.request())
  const other = deps.formats.get('messages')
  assert(other, 'every format has its codec')
  const answer = ANSWERS[TRAFFIC.provider].json.toString()
  const answerText = answer.slice(answer.indexOf('{'))
  const input = { deps, sample, recording, answerText }
  const pieces = [
    ...localPieces(input),
    ...streamPieces(sample.format, other),
    ...stubbedPieces(input),
    ...remotePieces(input, open.quietLedger),
  ]
  const steps = buildSteps({ config: open.config, quietLedger: open.quietLedger, deps, recording, answerText, shot })
  say('warming up')
  await warmUp(pieces)
  await warmUpSteps(client, steps)
  const rounds: Rounds = new Map()
  const calibrations: number[] = []
  for (let round = 0; round < count; round++) {
    say(`  round ${round + 1} of ${count}`)
    calibrations.push(await calibrate())
    await measureRound(pieces, rounds)
    calibrations.push(await calibrate())
    await measureSteps(client, steps, rounds)
  }
  for (const step of steps) step.stop()
  return { rounds, calibrations }
}
