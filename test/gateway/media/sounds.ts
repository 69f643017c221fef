/** Sound files of known length, and providers and models of sound for tests. */
import type { CatalogFile } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'

/** A WAV file of silence: 8,000 samples of 8 bits per second. */
export function wavOf(seconds: number): Buffer<ArrayBuffer> {
  const data = Math.round(seconds * 8_000)
  const bytes = Buffer.alloc(44 + data, 0x80)
  bytes.write('RIFF', 0, 'latin1')
  bytes.writeUInt32LE(36 + data, 4)
  bytes.write('WAVEfmt ', 8, 'latin1')
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(8_000, 24)
  bytes.writeUInt32LE(8_000, 28)
  bytes.writeUInt16LE(1, 32)
  bytes.writeUInt16LE(8, 34)
  bytes.write('data', 36, 'latin1')
  bytes.writeUInt32LE(data, 40)
  return bytes
}

/** An MP3 file of `frames` frames at 64 kbit/s and 48,000 samples per second: 24 ms and 192 bytes each. */
export function mp3Of(frames: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(frames * 192)
  for (let frame = 0; frame < frames; frame++) bytes.writeUInt32BE(0xfffb54c4, frame * 192)
  return bytes
}

/** Sound that cannot be told from any other: each byte is its own place. */
export function soundOf(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, index) => index % 251)
}

/** Prices of the test catalogue in nano-USD. */
export const NANO_PER_CHARACTER = 15_000
export const NANO_PER_SECOND = 100_000
export const NANO_PER_TEXT_TOKEN = 1_000
export const NANO_PER_SOUND_TOKEN = 12_000

/** Adds a second provider, and models that speak and transcribe: by character or second, and by token. */
export function sellAudio(file: CatalogFile): void {
  file.providers.spare = { ...file.providers.provider1, keys: ['spare-secret-canary'] }
  const common = { created: 1_760_000_000, ownedBy: 'provider1', contextLength: 4_096 }
  const byCharacter = { lines: [{ billable: 'input_text', unit: 'character', usd: 15 }] }
  const bySecond = { lines: [{ billable: 'input_audio', unit: 'second', usd: 0.0001 }] }
  const soundTokens = (billable: string) => ({ lines: [{ billable, unit: 'token', usd: 12 }] })
  const target = (provider: string, model: string) => ({ provider, model: `${provider}-${model}` })
  const one = (model: string) => ({ ...common, targets: [target('provider1', model)] })
  const two = (model: string) => ({ ...common, targets: [target('provider1', model), target('spare', model)] })
  file.models.push(
    { id: 'svc/tts', name: 'TTS', kind: 'speech', pricing: byCharacter, ...one('tts') },
    { id: 'svc/tts-two', name: 'TTS two', kind: 'speech', pricing: byCharacter, ...two('tts') },
    {
      ...{ id: 'svc/tts-tokens', name: 'TTS tokens', kind: 'speech', maxOutputTokens: 2_000, ...one('tts') },
      pricing: { inputPer1mTokens: 1, ...soundTokens('output_audio') },
    },
    { id: 'svc/stt', name: 'STT', kind: 'transcription', pricing: bySecond, ...one('stt') },
    { id: 'svc/stt-two', name: 'STT two', kind: 'transcription', pricing: bySecond, ...two('stt') },
    {
      ...{ id: 'svc/stt-tokens', name: 'STT tokens', kind: 'transcription', maxOutputTokens: 2_000, ...one('stt') },
      pricing: { inputPer1mTokens: 1, outputPer1mTokens: 1, ...soundTokens('input_audio') },
    },
  )
}

const SPOKEN = soundOf(10_000)

/** A provider of sound as OpenAI is: by the path that it is asked at. */
export function answerSound(call: UpstreamCall): Response {
  if (call.path.endsWith('/audio/speech')) return call.body.stream_format === 'sse' ? spokenEvents() : spoken()
  const form = call.form ?? new FormData()
  const wanted = form.get('response_format')
  if (form.get('stream') === 'true') return transcriptEvents()
  if (wanted === 'srt') return new Response('1\n00:00:00,000 --> 00:00:02,400\nHello\n', { headers: PLAIN })
  const usage = { type: 'duration', seconds: 3 }
  if (wanted === 'verbose_json')
    return Response.json({ task: 'transcribe', duration: 2.4, text: 'Hello', segments: [] })
  return Response.json({ text: 'Hello', usage })
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }

/** Sound in bytes. */
export function spoken(bytes: Uint8Array<ArrayBuffer> = SPOKEN): Response {
  return new Response(bytes, { headers: { 'content-type': 'audio/mpeg' } })
}

const SPEECH_USAGE = { input_tokens: 10, output_tokens: 40, total_tokens: 50 }

/** Sound in events, the last of which has the usage. */
export function spokenEvents(usage: object | undefined = SPEECH_USAGE): Response {
  const middle = SPOKEN.length / 2
  const pieces = [SPOKEN.subarray(0, middle), SPOKEN.subarray(middle)]
  const deltas = pieces.map((piece) => ({ type: 'speech.audio.delta', audio: Buffer.from(piece).toString('base64') }))
  return eventsOf(...deltas, { type: 'speech.audio.done', usage })
}

/** A transcript in events, the last of which has the usage. */
export function transcriptEvents(usage: object | undefined = { type: 'duration', seconds: 3 }): Response {
  return eventsOf(
    { type: 'transcript.text.delta', delta: 'Hel' },
    { type: 'transcript.text.delta', delta: 'lo' },
    { type: 'transcript.text.done', text: 'Hello', usage },
  )
}

function eventsOf(...events: object[]): Response {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

/** The sound that {@link answerSound} speaks. */
export const SPOKEN_SOUND = Buffer.from(SPOKEN)
