/** Streams that are framed unlike others, that break, and answers in another form than was asked for. */
import type { Group } from '@test/matrix/types'
import { answer, ask, TEXT } from './words'

const PROVIDER_FAILED = 'The model provider failed to answer'

export const streams: Group = {
  name: 'Streams',
  cases: [
    {
      name: 'line ends CRLF',
      asks: ask(),
      answer: answer('text', { lineEnd: '\r\n' }),
      modes: ['stream'],
      pairs: rawGemini(),
    },
    {
      name: 'line ends LF',
      asks: ask(),
      answer: answer('text', { lineEnd: '\n' }),
      modes: ['stream'],
      pairs: rawGemini(),
    },
    {
      name: 'line ends CR',
      asks: ask(),
      answer: answer('text', { lineEnd: '\r' }),
      modes: ['stream'],
      pairs: rawGemini(),
    },
    {
      name: 'every byte on its own, CRLF',
      asks: ask(),
      answer: answer('text', { lineEnd: '\r\n', bytewise: true }),
      modes: ['stream'],
    },
    {
      name: 'one piece where a stream was asked for',
      asks: ask(),
      answer: { ...TEXT, form: 'json' },
      modes: ['stream'],
    },
    {
      name: 'calls in one piece where a stream was asked for',
      asks: ask(),
      answer: answer('tools-same-name', { form: 'json' }),
      modes: ['stream'],
      sees: {
        text: '',
        calls: [
          { name: 'get_weather', arguments: { city: 'Oslo' } },
          { name: 'get_weather', arguments: { city: 'Rome' } },
        ],
        finish: 'tool-calls',
      },
    },
    {
      name: 'a stream where one piece was asked for',
      asks: ask(),
      answer: { ...TEXT, form: 'stream' },
      modes: ['json'],
    },
    {
      name: 'calls in a stream where one piece was asked for',
      asks: ask(),
      answer: answer('tools-same-name', { form: 'stream' }),
      modes: ['json'],
      sees: {
        text: '',
        calls: [
          { name: 'get_weather', arguments: { city: 'Oslo' } },
          { name: 'get_weather', arguments: { city: 'Rome' } },
        ],
        finish: 'tool-calls',
      },
    },
    {
      name: 'an error after the first words',
      asks: ask(),
      answer: answer('error-mid-stream'),
      modes: ['stream'],
      isFaulty: true,
      failsInStream: { message: 'The model provider', textBefore: 'Partial answer' },
    },
    {
      name: 'cut after the first words',
      asks: ask(),
      answer: answer('cut'),
      modes: ['stream'],
      isFaulty: true,
      failsInStream: { message: PROVIDER_FAILED, textBefore: 'Partial answer' },
    },
    {
      name: 'an error before the first word',
      asks: ask(),
      answer: answer('error-at-once'),
      modes: ['stream'],
      isFaulty: true,
      fails: { status: 502, message: PROVIDER_FAILED },
    },
    {
      name: 'an overload before the first word',
      asks: ask(),
      answer: answer('overload-at-once'),
      modes: ['stream'],
      isFaulty: true,
      fails: { status: 503, message: 'The model provider is overloaded' },
    },
    {
      name: 'a stream that fails where one piece was asked for',
      asks: ask(),
      answer: answer('error-mid-stream', { form: 'stream' }),
      modes: ['json'],
      isFaulty: true,
      fails: { status: 502, message: PROVIDER_FAILED },
    },
    {
      name: 'a stream that is cut where one piece was asked for',
      asks: ask(),
      answer: answer('cut', { form: 'stream' }),
      modes: ['json'],
      isFaulty: true,
      fails: { status: 502, message: PROVIDER_FAILED },
    },
  ],
}

/** The provider's own line ends go through. */
function rawGemini() {
  return { 'generate-content>generate-content': { isRaw: true } }
}
