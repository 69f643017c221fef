/** Every kind of mail as SMTP carries it, read by Python's own mail parser: valid headers, and the same content as text and HTML. */
import { beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { startMailServer } from '@test/support/mail-server'
import { renderMail } from '@/accounts/mails/render'
import { contentOf, type NewMail } from '@/accounts/mails/templates'
import { createMailTransport } from '@/accounts/mails/transport'
import { SAMPLES } from './samples'

const PARSE = `
import email, email.policy, json, sys
def read(raw):
  mail = email.message_from_string(raw, policy=email.policy.default)
  part = lambda kind: mail.get_body(preferencelist=(kind,))
  return {
    'headers': {name.lower(): str(value) for name, value in mail.items()}, 'type': mail.get_content_type(), 'defects': [str(d) for d in mail.defects],
    'parts': [p.get_content_type() for p in mail.iter_parts()], 'plain': part('plain').get_content(), 'html': part('html').get_content(),
  }
print(json.dumps([read(raw) for raw in json.load(sys.stdin)]))`

type Parsed = {
  headers: Record<string, string>
  type: string
  defects: string[]
  parts: string[]
  plain: string
  html: string
}

const unsubscribeUrl = 'https://gateway.example.test/unsubscribe?token=abc'
/** What Python reads in the mail to each address. */
let parsed: Map<string, Parsed>

/** Sends a mail of every kind, and has Python read all of them. */
beforeAll(async () => {
  const server = await startMailServer()
  const sender = { smtpUrl: server.url, from: 'Das Gätewäy <mail@gateway.example.test>' }
  const transport = createMailTransport(sender, true, silentLogger)
  for (const sample of SAMPLES) {
    const sent = await transport?.send({ id: 'mail_1', to: addressOf(sample), ...rendered(sample), unsubscribeUrl })
    expect(sent).toEqual({ kind: 'sent' })
  }
  const mails = server.mails.map(({ raw }) => raw)
  const child = Bun.spawn(['python3', '-c', PARSE], { stdin: Buffer.from(JSON.stringify(mails)), stdout: 'pipe' })
  const read: Parsed[] = JSON.parse(await new Response(child.stdout).text())
  parsed = new Map(server.mails.map(({ to }, index) => [to, read[index] as Parsed]))
  await server.stop()
})

const addressOf = ({ kind }: NewMail) => `${kind}@example.test`

function rendered({ kind, facts }: NewMail) {
  return renderMail(contentOf(kind, facts), { baseUrl: 'https://gateway.example.test', service: 'svc', token: 'abc' })
}

test.each(SAMPLES)('the mail $kind has valid headers, text and HTML', (sample) => {
  const to = addressOf(sample)
  const mail = rendered(sample)
  const found = parsed.get(to)
  expect(found).toMatchObject({
    ...{ type: 'multipart/alternative', parts: ['text/plain', 'text/html'], defects: [] },
    headers: {
      ...{ subject: mail.subject, to, from: 'Das Gätewäy <mail@gateway.example.test>' },
      ...{ 'message-id': '<mail_1@gateway.example.test>', 'auto-submitted': 'auto-generated' },
      ...{ 'list-unsubscribe': `<${unsubscribeUrl}>`, 'list-unsubscribe-post': 'List-Unsubscribe=One-Click' },
    },
  })
  expect(found?.plain.trimEnd()).toBe(mail.text.trimEnd())
  expect(found?.html.trimEnd()).toBe(mail.html.trimEnd())
})
