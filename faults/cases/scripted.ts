/** Sends a request whose call to the provider gets an answer of its own. */
import type { Stage } from '@faults/fault'
import { newMarker, type Sighting } from '@faults/world/client'
import type { Script } from '@faults/world/exchange'
import type { Wish } from '@faults/world/request'
import { answerJson } from '@faults/world/scripts'
import type { World } from '@faults/world/world'

/** Sends `wish`, and lets the provider play `script` for it. */
export function sendScripted<W extends World>(
  stage: Stage<W>,
  script: Script,
  wish: Wish,
  gateway?: number,
): Promise<Sighting> {
  const marker = newMarker()
  stage.world.upstream.script(marker, script)
  return stage.send({ ...wish, marker }, gateway)
}

/** A provider that answers every call with this status, and bills nothing. */
export function refusing(status: number, headers: Record<string, string> = {}, message = 'scripted refusal'): Script {
  return ({ answer }) => answerJson(answer, status, { error: { message, type: 'scripted', code: null } }, headers)
}
