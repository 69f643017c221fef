/** Calls any Bedrock model through the Converse API, whose contents correspond to the messages format. */
import { betaNamesOf } from '@/dialects/betas'
import type { DialectKind } from '@/dialects/dialect'
import { randomId } from '@/lib/ids'
import { decodeBedrockError, modelUrl } from './bedrock-endpoint'
import { isEventStream, streamReading } from './bedrock-stream'
import { converseAnswer, converseReader } from './converse-answer'
import { converseRequest, withoutProofs } from './converse-request'

export const bedrockConverse: DialectKind = {
  // Errors have the form of messages, even if the entry's format is chat-completions.
  formats: ['messages', 'chat-completions'],
  spoken: 'messages',
  needsVersion: false,
  create(_, { headers: __, ...endpoint }, settings) {
    return {
      ...endpoint,
      name: 'bedrock-converse',
      credential: { header: 'authorization', prefix: 'Bearer ' },
      headers: { accept: 'application/json' },
      hasServiceTiers: true,
      url: (call) => modelUrl(call, call.stream ? 'converse-stream' : 'converse'),
      takenBeta: betaNamesOf('bedrock'),
      envelope: (body, headers, family = String(body.model)) => converseRequest(body, headers, settings, family),
      withoutProofs,
      protocolHeaders: () => ({}),
      readAnswer(headers) {
        const requestId = headers.get('x-amzn-requestid')
        const id = requestId === null ? randomId('msg') : `msg_${requestId}`
        if (isEventStream(headers)) return streamReading(converseReader(id))
        return { kind: 'whole', read: (json) => converseAnswer(json, id) }
      },
      decodeError: decodeBedrockError,
    }
  },
}
