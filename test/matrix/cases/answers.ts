/** Answers other than text and calls: refused, empty, cut at the limit, in pieces, with images. */
import type { Group } from '@test/matrix/types'
import { answer, ask, USAGE } from './words'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const answers: Group = {
  name: 'Answers',
  cases: [
    {
      name: 'refusal',
      asks: ask(),
      answer: {
        'chat-completions': answer('refusal'),
        messages: answer('refusal'),
        'generate-content': answer('refusal', { usage: { ...USAGE, output: 0 } }),
        responses: answer('refusal'),
      },
      sees: { text: '', finish: 'refusal' },
      pairs: {
        'chat-completions>chat-completions': { sees: { text: "I can't help with that.", finish: 'stop' } },
        'messages>chat-completions': { sees: { text: "I can't help with that." } },
        'generate-content>chat-completions': { sees: { text: "I can't help with that." } },
        'responses>chat-completions': { sees: { text: "I can't help with that." } },
        'chat-completions>responses': { sees: { text: "I can't help with that.", finish: 'stop' } },
        'messages>responses': { sees: { text: "I can't help with that." } },
        'generate-content>responses': { sees: { text: "I can't help with that." } },
        'responses>responses': { sees: { text: "I can't help with that." } },
      },
    },
    {
      name: 'answer stopped by a filter',
      asks: ask(),
      answer: answer('filtered'),
      sees: { text: 'The first step is', finish: 'refusal' },
    },
    {
      name: 'empty answer',
      asks: ask(),
      answer: answer('empty', { usage: { ...USAGE, output: 1 } }),
      sees: { text: '' },
    },
    {
      name: 'output limit reached',
      asks: ask(),
      answer: answer('length'),
      sees: { text: 'Hello from the', finish: 'length' },
    },
    {
      name: 'output limit reached before any text',
      asks: ask(),
      answer: answer('length-in-thinking', { usage: { ...USAGE, reasoning: 8 } }),
      sees: { text: '', finish: 'length' },
    },
    {
      name: 'no usage',
      asks: ask(),
      answer: answer('no-usage', { usage: null }),
    },
    {
      name: 'the provider pauses',
      asks: ask(),
      providers: ['messages'],
      answer: answer('pause'),
      sees: { text: 'Searching…' },
      pairs: {
        'messages>messages': { sees: { finish: 'pause' } },
        '*>messages': { lost: 'becomes a normal end' },
      },
    },
    {
      name: 'characters split between bytes',
      asks: ask(),
      answer: answer('emoji', { bytewise: true }),
      sees: { text: 'Grüße 👩‍👩‍👧‍👦 你好 🎉\u2028é' },
    },
    {
      name: 'calls, split between bytes',
      asks: ask(),
      answer: answer('tools-two', { bytewise: true }),
      sees: {
        text: '',
        calls: [
          { name: 'get_weather', arguments: { city: 'Oslo' } },
          { name: 'get_time', arguments: { zone: 'Europe/Oslo' } },
        ],
        finish: 'tool-calls',
      },
      modes: ['stream'],
    },
    {
      name: 'image',
      asks: ask(),
      answer: answer('image'),
      providers: ['chat-completions', 'generate-content', 'responses'],
      sees: { text: 'A red dot:', images: [`image/png;${PIXEL}`] },
      pairs: {
        'messages>*': {
          lost: 'becomes a text that names it',
          sees: { text: 'A red dot:[image omitted: this API carries only text]', images: [] },
        },
      },
    },
  ],
}
