/** The form of the answer: JSON mode and JSON schemas, also for providers that take only a part of JSON Schema. */
import type { Group } from '@test/matrix/types'
import type { JsonObject } from '@/lib/json'
import { AS_ASKED, answer, ask, TEXT } from './words'

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { answer: { type: 'integer' } },
  required: ['answer'],
  additionalProperties: false,
}
/** Everything that some provider refuses. */
const RICH: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: {
    kind: { const: 'a' },
    size: { type: ['integer', 'null'], exclusiveMinimum: 0 },
    items: { type: 'array', items: { $ref: '#/$defs/item' }, minItems: 2 },
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['kind'],
  additionalProperties: false,
  $defs: { item: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } } },
}
const OPENAPI: JsonObject = {
  type: 'OBJECT',
  properties: {
    kind: { type: 'STRING', enum: ['a'] },
    size: { type: 'INTEGER', nullable: true, minimum: 1 },
    items: {
      type: 'ARRAY',
      items: { type: 'OBJECT', properties: { name: { type: 'STRING', pattern: '^a' } } },
      minItems: 2,
    },
    either: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
  },
  required: ['kind'],
}
const INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation before or after it and no code fence around it.'
const responseFormat = (schema: JsonObject, more: JsonObject = {}) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'response', schema, ...more } },
})
const textFormat = (schema: JsonObject, more: JsonObject = {}) => ({
  text: { format: { type: 'json_schema', name: 'response', schema, ...more } },
})
const outputConfig = (schema: JsonObject) => ({ output_config: { format: { type: 'json_schema', schema } } })
const jsonConfig = (more: JsonObject = {}) => ({ generationConfig: { responseMimeType: 'application/json', ...more } })
const WITH_JSON = [
  { role: 'developer', content: 'Answer with a JSON object.' },
  { role: 'user', content: 'Hi' },
]
const JSON_OBJECT = { format: { type: 'json_object' } }
const JSON_SEEN = { text: '{"answer":42}' }

const UNNAMED = { lost: 'the format has no name and no strictness' }

export const output: Group = {
  name: 'Structured output',
  cases: [
    {
      name: 'JSON mode',
      asks: {
        'chat-completions': ask({
          chat: {
            messages: [
              { role: 'system', content: 'Answer in JSON.' },
              { role: 'user', content: 'Hi' },
            ],
            response_format: { type: 'json_object' },
          },
        })['chat-completions'],
        'generate-content': ask({
          gemini: { systemInstruction: { parts: [{ text: 'Answer in JSON.' }] }, ...jsonConfig() },
        })['generate-content'],
        responses: ask({ responses: { instructions: 'Answer in JSON.', text: JSON_OBJECT } }).responses,
      },
      golden: { messages: ask({ messages: { system: `Answer in JSON.\n\n${INSTRUCTION}` } }).messages },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: {
        '*>messages': { lost: 'becomes an instruction' },
        '*>responses': {
          lost: 'an instruction with the word JSON is added',
          receives: { input: WITH_JSON },
        },
      },
    },
    {
      name: 'JSON mode without the word JSON',
      asks: { 'generate-content': ask({ gemini: jsonConfig() })['generate-content'] },
      golden: {
        'chat-completions': ask({
          chat: {
            messages: [
              { role: 'system', content: 'Answer with a JSON object.' },
              { role: 'user', content: 'Hi' },
            ],
            response_format: { type: 'json_object' },
          },
        })['chat-completions'],
        messages: ask({ messages: { system: INSTRUCTION } }).messages,
        responses: ask({ responses: { input: WITH_JSON, text: JSON_OBJECT } }).responses,
      },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: {
        '*>messages': { lost: 'becomes an instruction' },
        '*>chat-completions': { lost: 'an instruction with the word JSON is added' },
        '*>responses': { lost: 'an instruction with the word JSON is added' },
      },
    },
    {
      name: 'JSON schema',
      asks: ask({
        chat: responseFormat(SCHEMA),
        messages: outputConfig(SCHEMA),
        gemini: jsonConfig({ responseJsonSchema: SCHEMA }),
        responses: textFormat(SCHEMA),
      }),
      answer: answer('json'),
      sees: JSON_SEEN,
    },
    {
      name: 'JSON schema, strict and named',
      asks: {
        'chat-completions': ask({ chat: responseFormat(SCHEMA, { name: 'sum', strict: true }) })['chat-completions'],
        responses: ask({ responses: textFormat(SCHEMA, { name: 'sum', strict: true }) }).responses,
      },
      golden: {
        messages: ask({ messages: outputConfig(SCHEMA) }).messages,
        'generate-content': ask({ gemini: jsonConfig({ responseJsonSchema: SCHEMA }) })['generate-content'],
      },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: { '*>messages': UNNAMED, '*>generate-content': UNNAMED },
    },
    {
      name: 'JSON schema in upper-case types',
      asks: {
        'generate-content': ask({
          gemini: jsonConfig({
            responseSchema: { type: 'OBJECT', properties: { answer: { type: 'INTEGER', nullable: true } } },
          }),
        })['generate-content'],
      },
      golden: ask({
        chat: responseFormat({ type: 'object', properties: { answer: { type: ['integer', 'null'] } } }),
        responses: textFormat({ type: 'object', properties: { answer: { type: ['integer', 'null'] } } }),
        messages: outputConfig({
          type: 'object',
          properties: { answer: { type: ['integer', 'null'] } },
          additionalProperties: false,
        }),
      }),
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: { '*>messages': { lost: 'objects allow no additional properties' } },
    },
    {
      name: 'a rich schema, for a provider of the OpenAPI subset',
      asks: {
        'chat-completions': ask({ chat: responseFormat(RICH) })['chat-completions'],
        messages: ask({ messages: outputConfig(RICH) }).messages,
        responses: ask({ responses: textFormat(RICH) }).responses,
      },
      quirks: { 'generate-content': ['openapi-schema'] },
      providers: ['generate-content'],
      golden: { 'generate-content': ask({ gemini: jsonConfig({ responseSchema: OPENAPI }) })['generate-content'] },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: { '*>generate-content': { lost: 'constraints outside the subset are widened, never narrowed' } },
    },
    {
      name: 'a rich schema',
      asks: {
        'chat-completions': ask({ chat: responseFormat(RICH) })['chat-completions'],
        'generate-content': ask({ gemini: jsonConfig({ responseJsonSchema: RICH }) })['generate-content'],
        responses: ask({ responses: textFormat(RICH) }).responses,
      },
      providers: ['messages'],
      golden: { messages: ask({ messages: outputConfig(restricted()) }).messages },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: { '*>messages': { lost: 'unenforced constraints become descriptions' } },
    },
    {
      name: 'JSON schema, at a model without schemas',
      asks: ask({
        chat: responseFormat(SCHEMA),
        messages: outputConfig(SCHEMA),
        gemini: jsonConfig({ responseJsonSchema: SCHEMA }),
        responses: textFormat(SCHEMA),
      }),
      quirks: { messages: ['no-output-format'] },
      providers: ['messages'],
      golden: {
        messages: ask({
          messages: { system: `${INSTRUCTION} It must follow this JSON Schema:\n${JSON.stringify(SCHEMA)}` },
        }).messages,
      },
      answer: answer('json'),
      sees: JSON_SEEN,
      pairs: { '*>messages': { lost: 'becomes an instruction' }, 'messages>messages': { lost: AS_ASKED } },
    },
    {
      name: 'a tool with a rich schema, for a provider of the OpenAPI subset',
      asks: {
        'chat-completions': ask({
          chat: { tools: [{ type: 'function', function: { name: 'rich', parameters: RICH } }] },
        })['chat-completions'],
        messages: ask({ messages: { tools: [{ name: 'rich', input_schema: RICH }] } }).messages,
        responses: ask({ responses: { tools: [{ type: 'function', name: 'rich', parameters: RICH }] } }).responses,
      },
      quirks: { 'generate-content': ['openapi-schema'] },
      providers: ['generate-content'],
      golden: {
        'generate-content': ask({
          gemini: { tools: [{ functionDeclarations: [{ name: 'rich', parameters: OPENAPI }] }] },
        })['generate-content'],
      },
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'constraints outside the subset are widened, never narrowed' } },
    },
  ],
}

function restricted(): JsonObject {
  return {
    type: 'object',
    properties: {
      kind: { const: 'a' },
      size: { type: ['integer', 'null'], description: '{exclusiveMinimum: 0}' },
      items: { type: 'array', items: { $ref: '#/$defs/item' }, description: '{minItems: 2}' },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    required: ['kind'],
    additionalProperties: false,
    $defs: {
      item: {
        type: 'object',
        properties: { name: { type: 'string', description: '{pattern: "^a"}' } },
        additionalProperties: false,
      },
    },
  }
}
