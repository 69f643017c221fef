/** Requests for speech and for transcriptions, independent of formats. */
import type { JsonObject } from '@/lib/json'

export type SpeechRequest = {
  /** The caller's fields that are passed on. */
  fields: JsonObject
  /** Whether the caller wants events that contain pieces of the sound, not plain bytes. */
  wantsEvents: boolean
  /** The file format of the sound, such as `mp3`. */
  audioFormat: string
  unlisted: readonly string[]
}

export type TranscriptionRequest = {
  /** Text in the sound's own language, or translated to English. */
  task: 'transcriptions' | 'translations'
  file: File
  /** The caller's fields that are passed on, as the fields of a form. */
  fields: readonly (readonly [name: string, value: string])[]
  answerFormat: string
  stream: boolean
  /** The sound's length by its own header; undefined if that cannot be read. */
  seconds: number | undefined
  unlisted: readonly string[]
}
