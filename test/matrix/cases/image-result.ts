/** A tool that returns an image: some formats have it inside the result, others only as a message after it. */
import type { Case } from '@test/matrix/types'
import { image, imageUrl, inline, inputImage, PNG } from './media-parts'
import { ask, TEXT, TOOLS } from './words'

const call = { id: 'call_1', name: 'get_weather', input: { city: 'Oslo' } }
const geminiHistory = [
  { role: 'user', parts: [{ text: 'Weather?' }] },
  { role: 'model', parts: [{ functionCall: { id: call.id, name: call.name, args: call.input } }] },
]

export const imageResult: Case = {
  name: 'a tool’s result with an image',
  asks: {
    messages: ask({
      messages: {
        tools: TOOLS.messages,
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: [{ type: 'tool_use', ...call }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: call.id,
                content: [
                  { type: 'text', text: 'A map' },
                  image({ type: 'base64', media_type: 'image/png', data: PNG }),
                ],
              },
            ],
          },
        ],
      },
    }).messages,
    'generate-content': ask({
      gemini: {
        tools: TOOLS.gemini,
        contents: [
          ...geminiHistory,
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  id: call.id,
                  name: call.name,
                  response: { output: 'A map' },
                  parts: [inline('image/png', PNG)],
                },
              },
            ],
          },
        ],
      },
    })['generate-content'],
    responses: ask({
      responses: {
        tools: TOOLS.responses,
        input: [
          { role: 'user', content: 'Weather?' },
          { type: 'function_call', call_id: call.id, name: call.name, arguments: '{"city":"Oslo"}' },
          {
            type: 'function_call_output',
            call_id: call.id,
            output: [{ type: 'input_text', text: 'A map' }, inputImage(`data:image/png;base64,${PNG}`)],
          },
        ],
      },
    }).responses,
  },
  golden: {
    'chat-completions': ask({
      chat: {
        tools: TOOLS.chat,
        messages: [
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: call.id, type: 'function', function: { name: call.name, arguments: '{"city":"Oslo"}' } },
            ],
          },
          {
            role: 'tool',
            tool_call_id: call.id,
            content: 'A map\n[1 attached file(s) follow in the next user message]',
          },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Files returned by tool get_weather (call_1):' },
              imageUrl(`data:image/png;base64,${PNG}`),
            ],
          },
        ],
      },
    })['chat-completions'],
    'generate-content': ask({
      gemini: {
        tools: TOOLS.gemini,
        contents: [
          ...geminiHistory,
          {
            role: 'user',
            parts: [{ functionResponse: { id: call.id, name: call.name, response: { output: 'A map' } } }],
          },
          { role: 'user', parts: [inline('image/png', PNG)] },
        ],
      },
    })['generate-content'],
  },
  answer: TEXT,
  pairs: {
    '*>chat-completions': { lost: 'the image follows in a user message' },
    '*>generate-content': { lost: 'the image may follow in a user content' },
  },
}
