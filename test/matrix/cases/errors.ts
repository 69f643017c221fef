/** Errors of the provider, as its caller is told of them: in the caller's own format, without the provider's own words but for callers of its format. */
import type { Answer, Case, Group } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'
import { answer, ask } from './words'

const FAILED = { status: 502, message: 'The model provider failed to answer' }
const OVERLOADED = { status: 503, message: 'The model provider is overloaded' }

function refusal(name: string, fixture: string, statuses: Record<FormatName, number>, fails: Case['fails']): Case {
  const answers = Object.fromEntries(
    Object.entries(statuses).map(([format, status]) => [
      format,
      answer(fixture, { status, usage: null, form: 'json' }),
    ]),
  ) as Record<FormatName, Answer>
  return { name, asks: ask(), answer: answers, isFaulty: true, fails }
}

const all = (status: number): Record<FormatName, number> => ({
  'chat-completions': status,
  messages: status,
  'generate-content': status,
  responses: status,
})

export const errors: Group = {
  name: 'Errors of the provider',
  cases: [
    refusal('the request is at fault (400)', 'error-400', all(400), {
      status: 400,
      message: 'The model provider refused the request: The image is unreadable.',
      own: 'The image is unreadable.',
    }),
    refusal('our own key is at fault', 'error-401', { ...all(401), 'generate-content': 400 }, FAILED),
    refusal('our own account is at fault (403)', 'error-401', all(403), FAILED),
    refusal('the model is unknown there (404)', 'error-404', all(404), FAILED),
    refusal('the request is too large (413)', 'error-400', all(413), {
      status: 413,
      message: 'The request is too large for the model provider',
      own: 'The image is unreadable.',
    }),
    refusal('a rate limit (429)', 'error-429', all(429), OVERLOADED),
    refusal('an internal error (500)', 'error-500', all(500), FAILED),
    refusal('an overload', 'error-overloaded', { ...all(503), messages: 529 }, OVERLOADED),
    refusal('an error under status 200', 'error-in-200', all(200), FAILED),
  ],
}
