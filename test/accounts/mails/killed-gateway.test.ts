/** A gateway is killed during an outage of the mail server: the next gateway sends the mail once the server is back. */
import { expect, test } from 'bun:test'
import { addressOf, spawnGateway } from '@test/boot/process'
import { startMailServer } from '@test/support/mail-server'
import { freshDatabase, startRedis } from '@test/support/stores'
import { until } from '@test/support/until'

test('a confirmation mail survives a killed gateway and an SMTP outage', async () => {
  const redis = await startRedis()
  const away = await startMailServer()
  await away.stop()
  const environment = {
    ...{ REDIS_URL: redis.url, DATABASE_URL: await freshDatabase(), PORT: '0', PROVIDER_SANDBOX: '1' },
    ...{ SMTP_URL: away.url, MAIL_FROM: 'svc@example.test' },
  }
  const first = spawnGateway(environment)
  const url = await addressOf(first)
  const answer = await fetch(`${url}/dashboard/api/session/sign-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.test', password: 'a horse on a battery' }),
  })
  expect(await answer.json()).toEqual({ status: 'verification_sent' })
  await until(() => first.output().includes('mail_not_sent'), 'a try')
  first.kill('SIGKILL')
  await first.exited()
  const server = await startMailServer({ port: away.port })
  const second = spawnGateway(environment)
  await addressOf(second)
  expect(await server.find('ada@example.test', /verify-email#token=(\w+)/)).toMatch(/^\w{32}$/)
  expect(server.mails).toHaveLength(1)
  second.kill('SIGTERM')
  await second.exited()
  await Promise.all([server.stop(), redis.stop()])
})
