/**
 * Every place on the way of an answer that bounds, cuts, joins or leaves out, and why nothing of the answer is lost there in silence: it
 * goes on elsewhere, is told, or is none of the answer. A place is a constant, or a call by what it is called on.
 */

/** By file, then by place. A path in a reason is that of the tests that show it. */
export const PLACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/gateway/attempt/commit-point.ts': {
    MAX_HELD_CHARS:
      'past it the answer is the client’s: all that is held is relayed (test/gateway/attempt/commit-point.test.ts)',
    MAX_HELD_AS_SENT: 'past it only keep-alives are left out (test/gateway/attempt/commit-point.test.ts)',
    CHARS_PER_ITEM: 'counts towards what is held',
  },
  'src/gateway/attempt/race-attempts.ts': {
    'underWay.splice': 'an attempt that failed: its failure is kept, and told where no other does better',
  },
  'src/gateway/attempt/read-complete.ts': {
    MAX_ANSWER_BYTES: 'a longer answer is a failure of the attempt (test/gateway/attempt/read-complete.test.ts)',
  },
  'src/gateway/attempt/repeats.ts': {
    break: 'what is no repeat is parsed as ever, from the same character on (test/gateway/attempt/repeats.test.ts)',
  },
  'src/gateway/attempt/stream-source.ts': {
    MAX_EVENT_CHARS: 'a longer event is a failure (test/lib/streams/sse.test.ts)',
    'text.slice': 'the repeats were taken from the part before it (test/gateway/attempt/repeats.test.ts)',
  },
  'src/gateway/attempt/text-template.ts': {
    MAX_COUNT_DIGITS:
      'a longer number makes no template: the event is parsed (test/gateway/attempt/text-template.test.ts)',
    'text.slice':
      'the parts between the values, and the values: together the whole text (test/gateway/attempt/text-template.test.ts)',
  },
  'src/gateway/charge/kept-text.ts': {
    MAX_KEPT_CHARS:
      'a copy to be counted; all of the answer is relayed. An answer that is stopped for its length says so, and its last event restates no more than this',
    PIECES_AT_ONCE: 'joins so many, and keeps all of them (test/gateway/charge/kept-text.test.ts)',
  },
  'src/gateway/relay/drain.ts': {
    MAX_DRAIN_CHARS:
      'the client has gone: what is read is counted, and told to nobody (test/gateway/relay/drain.test.ts)',
  },
  'src/gateway/relay/relay.ts': {
    PIECE_CHARS:
      'a text is told in so many pieces, each from where the last one ended (test/gateway/relay/relay.test.ts)',
    'text.slice': 'the pieces of a text, each from where the last one ended (test/gateway/relay/relay.test.ts)',
  },
  'src/gateway/relay/stream-writer.ts': {
    'raw.slice': 'around the data, which stands in it as it was or put right',
    'items.slice': 'what is left to write: the relay reads it first (test/gateway/relay/stream-writer.test.ts)',
    'pieces.slice': 'what is left to write: the relay reads it first (test/gateway/relay/stream-writer.test.ts)',
  },
  'src/gateway/signatures/signature-store.ts': {
    MAX_BYTES: 'a longer proof is not kept, and the next request goes without it; none of an answer',
    MAX_LOOKUPS: 'proofs of a history, the latest of them; none of an answer',
    MAX_ID_CHARS: 'the name of a proof in the store',
    'callId.slice': 'the name of a proof in the store',
  },
  'src/formats/custom-tools.ts': {
    MAX_OPENING: 'arguments that begin otherwise are told whole at their end (test/formats/custom-tools.test.ts)',
    'text.slice': 'where their beginning is looked for; nothing is taken from the text',
    'rest.slice':
      'both parts: what is told now, and what is told with the next piece (test/formats/custom-tools.test.ts)',
  },
  'src/formats/chat-completions/pass-through.ts': {
    'text.slice': 'both parts, with the model’s name between them',
  },
  'src/formats/chat-completions/provider-side/decode-error.ts': {
    MAX_MESSAGE_CHARS: 'of an error’s words',
    'message.slice': 'of an error’s words',
  },
  'src/formats/chat-completions/repair-stream.ts': {
    'edits.length =': 'the changes of the event before, which were made',
  },
  'src/formats/generate-content/client-side/encode-stream.ts': {
    'waiting.splice': 'takes all that waits, and tells it',
  },
  'src/formats/generate-content/pass-through.ts': { 'field.slice': 'the name of a field of a request' },
  'src/formats/generate-content/provider-side/decode-partial-arguments.ts': {
    MAX_SEGMENTS:
      'a piece with a deeper path is told behind the arguments, which are no JSON then (test/formats/generate-content/provider-side/decode-stream.test.ts)',
    'path.slice': 'the way to the last segment, which is written to',
  },
  'src/formats/messages/client-side/encode-stream-blocks.ts': {
    'queue.length =': 'all of it was written',
    'queue.slice': 'what was not written yet, which is ended and then written',
  },
  'src/formats/responses/client-side/tool-names.ts': {
    DIGEST_CHARS: 'the name towards the provider; the caller gets its own back',
    'legal.slice': 'the name towards the provider; the caller gets its own back',
  },
  'src/formats/responses/provider-side/decode-error.ts': {
    MAX_MESSAGE_CHARS: 'of an error’s words',
    'message.slice': 'of an error’s words',
  },
  'src/formats/responses/provider-side/decode-stream-calls.ts': {
    'full.slice':
      'of the whole arguments what no piece has brought (test/formats/responses/provider-side/decode-stream.test.ts)',
  },
  'src/formats/responses/repair-stream.ts': { 'edits.length =': 'the changes of the event before, which were made' },
  'src/http/idempotency/header.ts': { MAX_KEY_CHARS: 'a longer key is refused' },
  'src/http/idempotency/kept-answers.ts': {
    MAX_ANSWER_BYTES:
      'a longer answer is not kept: asking again says so, and is not charged (test/http/idempotency/answer-once.test.ts)',
    MAX_DROPS: 'an answer without room is not kept: asking again says so',
  },
  'src/http/idempotency/resent-claims.ts': {
    MAX_KNOWN: 'of which claims a store that comes back is told: what it has kept is there all the same',
    MAX_KNOWN_BYTES: 'an answer without room is sent again as charged: asking again says so, and is not charged',
    break: 'ends a walk over the claims at the first that is young enough',
    'requestIds.slice': 'sends so many at once, and all of them',
  },
  'src/stored-responses/allowance.ts': {
    MAX_ACCOUNTS: 'of which accounts the choice is remembered: it is read again',
    createBoundedMap: 'of which accounts the choice is remembered: it is read again',
  },
  'src/stored-responses/conversation.ts': {
    READ_AT_ONCE: 'reads so many at once, and all of them',
    'ids.slice': 'reads so many at once, and all of them',
    MAX_PARSED_AT_ONCE: 'what is longer to parse lets others have a turn before',
    MAX_SHOWN_CHARS: 'of an id in an error',
    'id.slice': 'of an id in an error',
  },
  'src/stored-responses/copies.ts': {
    MAX_COPY_BYTES: 'a larger answer goes into Postgres at once',
    'text.slice': 'a copy’s three parts',
    'items.slice': 'a copy’s items are those of the input, and then those of the answer',
  },
  'src/stored-responses/final-answer.ts': { 'lastWords.slice': 'around the event that says what is stored' },
  'src/stored-responses/input-page.ts': {
    MAX_TRIES: 'a list that changes at each reading is a 404, and no part of it is shown as the whole',
    MAX_PAGE_BYTES: 'the page ends and says that there is more (test/stored-responses/bounds.test.ts)',
    break: 'the page is full and says that there is more, or a link was deleted meanwhile',
    'known.slice': 'the items of the link that the page asks for',
    'output.slice': 'the items of the link that the page asks for',
  },
  'src/stored-responses/limits.ts': {
    MAX_CHAIN_VALUES: 'a conversation of more is refused',
    MAX_STORED_BYTES: 'a larger answer says `store: false` (test/stored-responses/stored-responses.test.ts)',
    MAX_CHAIN_LINKS: 'a longer conversation is refused',
    MAX_CHAIN_BYTES: 'a larger conversation is refused',
    MAX_STORED_RESPONSES: 'the oldest go, and naming one says so',
    MAX_REFERENCES: 'more are refused',
  },
  'src/stored-responses/rows.ts': {
    ITEMS_AT_ONCE: 'writes so many at once, and all of them',
    'items.slice': 'writes so many at once, and all of them',
    'ids.slice': 'up to a link that was deleted meanwhile: the conversation misses it, and is refused',
  },
  'src/stored-responses/writer.ts': {
    MAX_QUEUE_BYTES: 'without room an answer goes into Postgres at once',
    break: 'a batch is full: the next one begins with what is left',
    'queue.slice': 'those that were written are taken off',
  },
  'src/lib/streams/sse.ts': {
    break: 'no line end is left: the rest waits for the next bytes',
    'line.slice': 'after the name of a field',
    'buffer.slice': 'the block or line that has ended, and what comes after it (test/lib/streams/sse.test.ts)',
  },
  'src/upstream/answer.ts': {
    MAX_NATIVE_READ_BYTES: 'a longer body is read piece by piece',
  },
  'src/upstream/client.ts': {
    MAX_ERROR_BODY_BYTES: 'of an error’s body',
    'chunk.subarray': 'of an error’s body, whose beginning says what is wrong',
    break: 'the beginning of an error’s body has been read',
  },
}
