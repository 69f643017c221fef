/** Brings a prepared server up on a port of its own and knows when it answers. */
import type { Shot } from '@bench/load/job'
import { requestBody } from '@bench/load/request-bytes'
import { startProgram } from '@bench/machine/program'
import type { Prepared, Traffic } from '@bench/peers/peer'
import { freePort } from '@/boot/embedded/free-port'

/** A server that runs; `pids` is empty for the upstream itself, which nobody started for this. */
export type RunningPeer = {
  port: number
  pids: readonly number[]
  /** From the start of its program to the first answer of status 200. */
  startMs: number
  shot(traffic: Traffic): Shot | undefined
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 60_000
const POLL_MS = 2
const OK = 200

/** Starts it and waits for the first answer. Rejects with what it said instead. */
export async function runPeer(prepared: Prepared, logPath: string, traffic: Traffic): Promise<RunningPeer> {
  const port = await freePort()
  const command = prepared.command(port)
  const startedMs = performance.now()
  const environment = prepared.environment?.(port)
  const program =
    command.length === 0 ? undefined : startProgram({ command, logPath, ...(environment && { environment }) })
  const shot = (asked: Traffic) => prepared.shot(asked, port)
  const stop = async () => program?.stop()
  try {
    await firstAnswer(shot(traffic), () => program?.isRunning() ?? true)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, pids: program ? [program.pid] : [], startMs: performance.now() - startedMs, shot, stop }
}

/** Asks until the answer is one of status 200. */
async function firstAnswer(shot: Shot | undefined, isRunning: () => boolean): Promise<void> {
  if (!shot) throw new Error('it does not take this traffic')
  const deadlineMs = performance.now() + START_TIMEOUT_MS
  let told = 'nothing'
  while (performance.now() < deadlineMs && isRunning()) {
    told = await ask(shot).catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    if (told === '') return
    await Bun.sleep(POLL_MS)
  }
  throw new Error(isRunning() ? `no answer; the last was: ${told.slice(0, 300)}` : 'its program ended')
}

/** An empty text where the answer is good, otherwise what came. */
async function ask(shot: Shot): Promise<string> {
  const { keyHeader, keys } = shot
  const response = await fetch(`http://127.0.0.1:${shot.port}${shot.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...shot.headers,
      ...(keyHeader && { [keyHeader.name]: `${keyHeader.prefix}${keys[0] ?? ''}` }),
    },
    body: requestBody(shot),
  })
  const text = await response.text()
  return response.status === OK ? '' : `${response.status} ${text}`
}
