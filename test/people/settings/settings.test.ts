/** The settings of an account: defaults, and the same changes by routes, management API and command. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { run as runCommand } from '@test/cli/run'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { SETTING_ROWS, settingsOf } from '@/people/settings/fields'

let gateway: TestGateway
let owner: Person
let path: string
let stores: { REDIS_URL: string; DATABASE_URL: string }

beforeAll(async () => {
  stores = { REDIS_URL: await redisUrl(), DATABASE_URL: await freshDatabase() }
  gateway = await startGateway({
    ...{ respond: () => Response.json({}), redisUrl: stores.REDIS_URL, databaseUrl: stores.DATABASE_URL },
  })
  owner = await signUpPerson(gateway)
  path = `/dashboard/api/a/${owner.viewer.accountId}/member-policy`
})
afterAll(() => gateway.stop())

const STANDARDS = settingsOf({})

test('an account that chose no setting has the defaults', async () => {
  expect(Object.keys(STANDARDS)).toEqual(SETTING_ROWS.map(({ name }) => name))
  expect((await owner.json('GET', path)).body).toEqual(STANDARDS)
})

test.each(SETTING_ROWS)(
  'the setting $name is changed alone, and the audit log has its former value',
  async ({ name, standard }) => {
    const { body } = await owner.json('PUT', path, { [name]: !standard })
    expect(body).toEqual({ ...STANDARDS, [name]: !standard })
    const [entry] = await gateway.gateway.database.sql`SELECT details FROM audit_entries
    WHERE action = 'account.member_policy' ORDER BY seq DESC LIMIT 1`
    expect(entry?.details).toEqual({ [name]: !standard, [`before.${name}`]: standard })
    expect((await owner.json('PUT', path, { [name]: standard })).body).toEqual(STANDARDS)
  },
)

test.each([{}, { unknown: true }, { developersSeeAllUsage: 'yes' }])(
  'the settings %p are refused and change nothing',
  async (body) => {
    expect((await owner.json('PUT', path, body)).status).toBe(400)
    expect((await owner.json('GET', path)).body).toEqual(STANDARDS)
  },
)

test('the settings command changes one setting, shows all settings, and refuses unknown accounts', async () => {
  const { accountId } = owner.viewer
  const words = ['account', 'member-policy', '--account']
  const chosen = await runCommand([...words, accountId, '--developers-see-all-usage', 'yes'], stores)
  expect(chosen.json).toEqual({ accountId, ...STANDARDS, developersSeeAllUsage: true })
  expect((await runCommand([...words, accountId], stores)).json).toEqual(chosen.json)
  expect(await runCommand([...words, accountId, '--developers-see-all-usage', 'on'], stores)).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('--developers-see-all-usage must be yes or no') },
  })
  expect((await runCommand([...words, 'acct_unknown'], stores)).stderr).toContain('no account acct_unknown')
})
