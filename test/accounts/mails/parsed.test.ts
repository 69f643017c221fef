/** Every kind of mail as SMTP carries it, read by Python's own mail parser: valid headers, and the same content as text and HTML. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { renderMail } from '@/accounts/mails/render'
import { contentOf } from '@/accounts/mails/templates'
import { createMailTransport } from '@/accounts/mails/transport'
import { SAMPLES } from './samples'

const PARSE = `
import email, email.policy, json, sys
mail = email.message_from_string(sys.stdin.read(), policy=email.policy.default)
part = lambda kind: mail.get_body(preferencelist=(kind,))
print(json.dumps({
  'headers': {name.lower(): str(value) for name, value in mail.items()}, 'type': mail.get_content_type(), 'defects': [str(d) for d in mail.defects],
  'parts': [p.get_content_type() for p in mail.iter_parts()], 'plain': part('plain').get_content(), 'html': part('html').get_content(),
}))`

type Parsed = {
  headers: Record<string, string>
  type: string
  defects: string[]
  parts: string[]
  plain: string
  html: string
}

let server: MailServer

beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.stop())

async function parse(raw: string): Promise<Parsed> {
  const child = Bun.spawn(['python3', '-c', PARSE], { stdin: Buffer.from(raw), stdout: 'pipe' })
  return JSON.parse(await new Response(child.stdout).text())
}

test.each(SAMPLES)('the mail $kind has valid headers, text and HTML', async ({ kind, facts }) => {
  const transport = createMailTransport(
    { smtpUrl: server.url, from: 'Das Gätewäy <mail@gateway.example.test>' },
    true,
    silentLogger,
  )
  const mail = renderMail(contentOf(kind, facts), {
    baseUrl: 'https://gateway.example.test',
    service: 'svc',
    token: 'abc',
  })
  const unsubscribeUrl = 'https://gateway.example.test/unsubscribe?token=abc'
  const to = `${kind}@example.test`
  expect(await transport?.send({ id: 'mail_1', to, ...mail, unsubscribeUrl })).toEqual({ kind: 'sent' })
  const parsed = await parse(server.mails.find((one) => one.to === to)?.raw ?? '')
  expect(parsed).toMatchObject({
    ...{ type: 'multipart/alternative', parts: ['text/plain', 'text/html'], defects: [] },
    headers: {
      ...{ subject: mail.subject, to, from: 'Das Gätewäy <mail@gateway.example.test>' },
      ...{ 'message-id': '<mail_1@gateway.example.test>', 'auto-submitted': 'auto-generated' },
      ...{ 'list-unsubscribe': `<${unsubscribeUrl}>`, 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' },
    },
  })
  expect(parsed.plain.trimEnd()).toBe(mail.text.trimEnd())
  expect(parsed.html.trimEnd()).toBe(mail.html.trimEnd())
})
