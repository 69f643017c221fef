/** Turns, and system prompts in every position. */
import type { Group } from '@test/matrix/types'
import { AS_ASKED, ask, converse, TEXT } from './words'

const user = (text: string) => ({ role: 'user', content: text })
const assistant = (text: string) => ({ role: 'assistant', content: text })
const content = (role: 'user' | 'model', ...texts: string[]) => ({ role, parts: texts.map((text) => ({ text })) })

const MID_SYSTEM = {
  chat: [user('Hi'), assistant('Hello.'), user('Sum it up'), { role: 'system', content: 'Be brief.' }],
  messages: [user('Hi'), assistant('Hello.'), user('Sum it up'), { role: 'system', content: 'Be brief.' }],
  responses: [user('Hi'), assistant('Hello.'), user('Sum it up'), { role: 'developer', content: 'Be brief.' }],
}

export const conversation: Group = {
  name: 'Conversation',
  cases: [
    { name: 'one question', asks: ask(), answer: TEXT },
    {
      name: 'several turns',
      asks: converse(
        [user('My name is Ada.'), assistant('Hello Ada.'), user('What is my name?')],
        [user('My name is Ada.'), assistant('Hello Ada.'), user('What is my name?')],
        [content('user', 'My name is Ada.'), content('model', 'Hello Ada.'), content('user', 'What is my name?')],
        [user('My name is Ada.'), assistant('Hello Ada.'), user('What is my name?')],
      ),
      answer: TEXT,
    },
    {
      name: 'system prompt',
      asks: ask({
        chat: { messages: [{ role: 'system', content: 'Speak Latin.' }, user('Hi')] },
        messages: { system: 'Speak Latin.' },
        gemini: { systemInstruction: { parts: [{ text: 'Speak Latin.' }] } },
        responses: { instructions: 'Speak Latin.' },
      }),
      answer: TEXT,
    },
    {
      name: 'system prompt in several parts',
      asks: ask({
        chat: {
          messages: [
            { role: 'system', content: [{ type: 'text', text: 'Speak Latin.' }] },
            { role: 'developer', content: 'Be brief.' },
            user('Hi'),
          ],
        },
        messages: {
          system: [
            { type: 'text', text: 'Speak Latin.' },
            { type: 'text', text: 'Be brief.' },
          ],
        },
        gemini: { systemInstruction: { parts: [{ text: 'Speak Latin.' }, { text: 'Be brief.' }] } },
        responses: { instructions: 'Speak Latin.', input: [{ role: 'developer', content: 'Be brief.' }, user('Hi')] },
      }),
      golden: {
        'chat-completions': {
          messages: [{ role: 'system', content: 'Speak Latin.\n\nBe brief.' }, user('Hi')],
          max_completion_tokens: 100,
        },
        messages: { messages: [user('Hi')], max_tokens: 100, system: 'Speak Latin.\n\nBe brief.' },
        responses: { input: [user('Hi')], max_output_tokens: 100, instructions: 'Speak Latin.\n\nBe brief.' },
      },
      answer: TEXT,
    },
    {
      name: 'system message in the middle',
      asks: {
        'chat-completions': ask({ chat: { messages: MID_SYSTEM.chat } })['chat-completions'],
        messages: ask({ messages: { messages: MID_SYSTEM.messages } }).messages,
        responses: ask({ responses: { input: MID_SYSTEM.responses } }).responses,
      },
      quirks: { messages: ['mid-system'] },
      golden: {
        'generate-content': {
          contents: [
            content('user', 'Hi'),
            content('model', 'Hello.'),
            content('user', 'Sum it up', '<system>Be brief.</system>'),
          ],
          generationConfig: { maxOutputTokens: 100 },
        },
      },
      answer: TEXT,
      pairs: { '*>generate-content': { lost: 'becomes user text in <system> tags' } },
    },
    {
      name: 'system message in the middle, for a provider without those',
      asks: {
        'chat-completions': ask({ chat: { messages: MID_SYSTEM.chat } })['chat-completions'],
        messages: ask({ messages: { messages: MID_SYSTEM.messages } }).messages,
        responses: ask({ responses: { input: MID_SYSTEM.responses } }).responses,
      },
      quirks: { 'chat-completions': ['no-mid-system'] },
      providers: ['chat-completions', 'messages'],
      golden: {
        'chat-completions': {
          messages: [
            user('Hi'),
            assistant('Hello.'),
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Sum it up' },
                { type: 'text', text: '<system>\nBe brief.\n</system>' },
              ],
            },
          ],
          max_completion_tokens: 100,
        },
        messages: {
          messages: [
            user('Hi'),
            assistant('Hello.'),
            {
              role: 'user',
              content: [
                { type: 'text', text: 'Sum it up' },
                { type: 'text', text: '<system>Be brief.</system>' },
              ],
            },
          ],
          max_tokens: 100,
        },
      },
      answer: TEXT,
      pairs: {
        '*>*': { lost: 'becomes user text in <system> tags' },
        'chat-completions>chat-completions': { lost: AS_ASKED },
        'messages>messages': { lost: AS_ASKED },
      },
    },
    {
      name: 'adjacent turns of one role',
      asks: converse(
        [user('One.'), user('Two.'), assistant('Yes?'), user('Three.')],
        [user('One.'), user('Two.'), assistant('Yes?'), user('Three.')],
        [content('user', 'One.'), content('user', 'Two.'), content('model', 'Yes?'), content('user', 'Three.')],
        [user('One.'), user('Two.'), assistant('Yes?'), user('Three.')],
      ),
      golden: {
        messages: {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'One.' },
                { type: 'text', text: 'Two.' },
              ],
            },
            assistant('Yes?'),
            user('Three.'),
          ],
          max_tokens: 100,
        },
        'generate-content': {
          contents: [content('user', 'One.', 'Two.'), content('model', 'Yes?'), content('user', 'Three.')],
          generationConfig: { maxOutputTokens: 100 },
        },
      },
      pairs: {
        'generate-content>responses': {
          receives: {
            input: [
              {
                role: 'user',
                content: [
                  { type: 'input_text', text: 'One.' },
                  { type: 'input_text', text: 'Two.' },
                ],
              },
              { role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] },
              user('Three.'),
            ],
          },
        },
        'generate-content>chat-completions': {
          receives: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'text', text: 'One.' },
                  { type: 'text', text: 'Two.' },
                ],
              },
              assistant('Yes?'),
              user('Three.'),
            ],
          },
        },
      },
      answer: TEXT,
    },
    {
      name: 'first message by the assistant',
      asks: converse(
        [assistant('How can I help?'), user('Hi')],
        [assistant('How can I help?'), user('Hi')],
        [content('model', 'How can I help?'), content('user', 'Hi')],
        [assistant('How can I help?'), user('Hi')],
      ),
      golden: {
        messages: {
          messages: [user('(The conversation begins with the assistant.)'), assistant('How can I help?'), user('Hi')],
          max_tokens: 100,
        },
      },
      answer: TEXT,
      pairs: { '*>messages': { lost: 'a first user message is added' } },
    },
    {
      name: 'an assistant message to continue',
      asks: converse(
        [user('Count'), assistant('One, two,')],
        [user('Count'), assistant('One, two,')],
        [content('user', 'Count'), content('model', 'One, two,')],
        [user('Count'), assistant('One, two,')],
      ),
      answer: TEXT,
      pairs: {
        '*>chat-completions': { lost: 'the provider may start a new answer' },
        '*>responses': { lost: 'the provider may start a new answer' },
      },
    },
    {
      name: 'languages and symbols',
      asks: converse(
        [user('Grüße, 世界 👩‍👩‍👧‍👦 "quoted" \\ \u2028 \u0007')],
        [user('Grüße, 世界 👩‍👩‍👧‍👦 "quoted" \\ \u2028 \u0007')],
        [content('user', 'Grüße, 世界 👩‍👩‍👧‍👦 "quoted" \\ \u2028 \u0007')],
        [user('Grüße, 世界 👩‍👩‍👧‍👦 "quoted" \\ \u2028 \u0007')],
      ),
      answer: TEXT,
    },
    {
      name: 'names of participants',
      asks: {
        'chat-completions': ask({ chat: { messages: [{ ...user('Hi'), name: 'ada' }] } })['chat-completions'],
      },
      golden: ask(),
      answer: TEXT,
      pairs: { 'chat-completions>*': { lost: 'names are omitted' } },
    },
  ],
}
