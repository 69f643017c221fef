/** Tools: offered, called, answered, and the histories of earlier calls that clients send back. */
import type { Group } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import {
  callItems,
  callOutput,
  chatCalls,
  chatResult,
  functionCalls,
  functionResponse,
  geminiUser,
  history,
  NOW,
  OSLO,
  ROME,
  result,
  SAID_AS_TEXT,
  user,
  uses,
} from './calls'
import { answer, ask, askWithTools, TEXT, TOOLS } from './words'

const callSeen = (name: string, input: JsonObject) => ({ name, arguments: input })
const OSLO_SEEN = callSeen('get_weather', { city: 'Oslo' })

export const tools: Group = {
  name: 'Tools',
  cases: [
    {
      name: 'one call',
      asks: askWithTools(),
      answer: answer('tool-one'),
      sees: { text: '', calls: [OSLO_SEEN], finish: 'tool-calls' },
    },
    {
      name: 'parallel calls',
      asks: askWithTools(),
      answer: answer('tools-two'),
      sees: { text: '', calls: [OSLO_SEEN, callSeen('get_time', { zone: 'Europe/Oslo' })], finish: 'tool-calls' },
    },
    {
      name: 'the same tool twice',
      asks: askWithTools(),
      answer: answer('tools-same-name'),
      sees: { text: '', calls: [OSLO_SEEN, callSeen('get_weather', { city: 'Rome' })], finish: 'tool-calls' },
    },
    {
      name: 'a call without arguments',
      asks: askWithTools(),
      answer: answer('tool-no-arguments'),
      sees: { text: '', calls: [callSeen('get_time', {})], finish: 'tool-calls' },
    },
    {
      name: 'text before a call',
      asks: askWithTools(),
      answer: answer('text-and-tool'),
      sees: { text: 'Let me look.', calls: [OSLO_SEEN], finish: 'tool-calls' },
    },
    {
      name: 'a tool without parameters',
      asks: ask({
        chat: {
          tools: [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }],
        },
        messages: { tools: [{ name: 'now', input_schema: { type: 'object', properties: {} } }] },
        gemini: { tools: [{ functionDeclarations: [{ name: 'now' }] }] },
        responses: { tools: [{ type: 'function', name: 'now', parameters: { type: 'object', properties: {} } }] },
      }),
      golden: {
        messages: {
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 100,
          tools: [{ name: 'now', input_schema: { properties: {}, type: 'object' } }],
        },
      },
      answer: TEXT,
    },
    {
      name: 'strict tools',
      asks: {
        'chat-completions': ask({
          chat: { tools: [{ type: 'function', function: { name: 'now', strict: true, parameters: strictSchema() } }] },
        })['chat-completions'],
        messages: ask({ messages: { tools: [{ name: 'now', strict: true, input_schema: strictSchema() }] } }).messages,
        responses: ask({
          responses: { tools: [{ type: 'function', name: 'now', strict: true, parameters: strictSchema() }] },
        }).responses,
      },
      golden: {
        'generate-content': ask({
          gemini: { tools: [{ functionDeclarations: [{ name: 'now', parametersJsonSchema: strictSchema() }] }] },
        })['generate-content'],
      },
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'arguments may differ from the schema' } },
    },
    {
      name: 'a result',
      asks: history(
        [OSLO],
        [chatResult(OSLO, 'Sunny')],
        [result(OSLO, { content: 'Sunny' })],
        [functionResponse(OSLO, { output: 'Sunny' })],
        [callOutput(OSLO, 'Sunny')],
      ),
      answer: TEXT,
    },
    {
      name: 'a result that is JSON',
      asks: history(
        [OSLO],
        [chatResult(OSLO, '{"degrees":20}')],
        [result(OSLO, { content: '{"degrees":20}' })],
        [functionResponse(OSLO, { degrees: 20 })],
        [callOutput(OSLO, '{"degrees":20}')],
      ),
      answer: TEXT,
    },
    {
      name: 'results of parallel calls',
      asks: history(
        [OSLO, ROME, NOW],
        [chatResult(OSLO, 'Sunny'), chatResult(ROME, 'Rain'), chatResult(NOW, 'Noon')],
        [result(OSLO, { content: 'Sunny' }), result(ROME, { content: 'Rain' }), result(NOW, { content: 'Noon' })],
        [
          functionResponse(OSLO, { output: 'Sunny' }),
          functionResponse(ROME, { output: 'Rain' }),
          functionResponse(NOW, { output: 'Noon' }),
        ],
        [callOutput(OSLO, 'Sunny'), callOutput(ROME, 'Rain'), callOutput(NOW, 'Noon')],
      ),
      answer: TEXT,
    },
    {
      name: 'results and user text',
      asks: history(
        [OSLO],
        [chatResult(OSLO, 'Sunny'), { role: 'user', content: 'And in Rome?' }],
        [result(OSLO, { content: 'Sunny' }), { type: 'text', text: 'And in Rome?' }],
        [functionResponse(OSLO, { output: 'Sunny' }), { text: 'And in Rome?' }],
        [callOutput(OSLO, 'Sunny'), { role: 'user', content: 'And in Rome?' }],
      ),
      golden: {
        'generate-content': {
          contents: [
            geminiUser,
            { role: 'model', parts: functionCalls([OSLO]) },
            { role: 'user', parts: [functionResponse(OSLO, { output: 'Sunny' })] },
            { role: 'user', parts: [{ text: 'And in Rome?' }] },
          ],
          generationConfig: { maxOutputTokens: 100 },
          tools: TOOLS.gemini,
        },
      },
      answer: TEXT,
    },
    {
      name: 'an error as a result',
      asks: {
        ...history(
          [OSLO],
          [chatResult(OSLO, 'Error: No such city')],
          [result(OSLO, { content: 'No such city', is_error: true })],
          [functionResponse(OSLO, { error: 'No such city' })],
          [callOutput(OSLO, 'Error: No such city')],
        ),
      },
      answer: TEXT,
      pairs: {
        'responses>messages': SAID_AS_TEXT.messages,
        'responses>generate-content': SAID_AS_TEXT.gemini,
        '*>responses': { lost: 'the error becomes the text “Error: ”' },
        'chat-completions>messages': SAID_AS_TEXT.messages,
        'chat-completions>generate-content': SAID_AS_TEXT.gemini,
        '*>chat-completions': { lost: 'the error becomes the text “Error: ”' },
      },
    },
    {
      name: 'an empty result',
      asks: history(
        [OSLO],
        [chatResult(OSLO, '')],
        [result(OSLO, {})],
        [functionResponse(OSLO, { output: '' })],
        [callOutput(OSLO, '')],
      ),
      answer: TEXT,
    },
    {
      name: 'a call whose result is missing',
      asks: askWithTools({
        chat: { messages: [user, chatCalls([OSLO, ROME]), chatResult(OSLO, 'Sunny')] },
        messages: {
          messages: [
            user,
            { role: 'assistant', content: uses([OSLO, ROME]) },
            { role: 'user', content: [result(OSLO, { content: 'Sunny' })] },
          ],
        },
        gemini: {
          contents: [
            geminiUser,
            { role: 'model', parts: functionCalls([OSLO, ROME]) },
            { role: 'user', parts: [functionResponse(OSLO, { output: 'Sunny' })] },
          ],
        },
        responses: { input: [user, ...callItems([OSLO, ROME]), callOutput(OSLO, 'Sunny')] },
      }),
      golden: {
        ...history(
          [OSLO, ROME],
          [chatResult(OSLO, 'Sunny'), chatResult(ROME, 'Error: no result was provided.')],
          [
            result(ROME, { content: 'No result was given for this tool call.', is_error: true }),
            result(OSLO, { content: 'Sunny' }),
          ],
          [
            functionResponse(OSLO, { output: 'Sunny' }),
            functionResponse(ROME, { error: 'The call was not answered.' }),
          ],
          [callOutput(OSLO, 'Sunny'), callOutput(ROME, 'Error: no result was provided.')],
        ),
      },
      answer: TEXT,
      pairs: { '*>*': { lost: 'an error is added as the result' } },
    },
    {
      name: 'a result without its call',
      asks: askWithTools({
        chat: { messages: [chatResult(OSLO, 'Sunny'), { role: 'user', content: 'Weather?' }] },
        messages: {
          messages: [
            { role: 'user', content: [result(OSLO, { content: 'Sunny' }), { type: 'text', text: 'Weather?' }] },
          ],
        },
        gemini: {
          contents: [{ role: 'user', parts: [functionResponse(OSLO, { output: 'Sunny' }), { text: 'Weather?' }] }],
        },
        responses: { input: [callOutput(OSLO, 'Sunny'), user] },
      }),
      golden: {
        messages: { messages: orphanParts('call_1'), max_tokens: 100, tools: TOOLS.messages },
        responses: { input: orphanItems('call_1'), max_output_tokens: 100, tools: TOOLS.responses },
      },
      answer: TEXT,
      pairs: {
        'generate-content>messages': { receives: { messages: orphanParts('get_weather') } },
        '*>messages': { lost: 'becomes user text' },
        'messages>responses': { receives: { input: orphanInput('call_1') } },
        'generate-content>responses': { receives: { input: orphanInput('get_weather') } },
        '*>responses': { lost: 'becomes user text' },
        'responses>chat-completions': { receives: { messages: orphanMessages('call_1') } },
        'responses>generate-content': { receives: { contents: orphanContents('a function') } },
        'messages>chat-completions': {
          receives: { messages: orphanParts('call_1') },
        },
        'generate-content>chat-completions': {
          receives: { messages: orphanParts('get_weather') },
        },
        '*>chat-completions': { lost: 'becomes user text' },
        'chat-completions>generate-content': { receives: { contents: orphanContents('a function') } },
        'messages>generate-content': { receives: { contents: orphanContents('a function') } },
        '*>generate-content': { lost: 'becomes user text' },
      },
    },
  ],
}

function strictSchema(): JsonObject {
  return { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'], additionalProperties: false }
}

function orphanParts(name: string): JsonObject[] {
  const texts = [`Result of tool ${name}:`, 'Sunny', 'Weather?']
  return [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }]
}

function orphanInput(name: string): JsonObject[] {
  const texts = [`Result of tool ${name}:`, 'Sunny', 'Weather?']
  return [{ role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) }]
}

function orphanItems(name: string): JsonObject[] {
  const texts = [`Result of tool ${name}:`, 'Sunny']
  return [{ role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) }, user]
}

function orphanContents(name: string): JsonObject[] {
  return [{ role: 'user', parts: [{ text: `Result of ${name}: Sunny` }, { text: 'Weather?' }] }]
}

/** What the format has as an item of its own becomes a message of its own. */
function orphanMessages(name: string): JsonObject[] {
  const texts = [`Result of tool ${name}:`, 'Sunny']
  return [{ role: 'user', content: texts.map((text) => ({ type: 'text', text })) }, user]
}
