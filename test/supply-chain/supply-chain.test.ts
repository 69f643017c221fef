/** Dependencies: pinned exactly, at least a week old, with a known licence, and install scripts only of trusted packages. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, readPackages } from './packages'
import { type billOfMaterials, licenceTable } from './sbom'

type Bunfig = { install: { exact: boolean; minimumReleaseAge: number } }
type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>> & {
  packageManager: string
  trustedDependencies: string[]
}

const manifest: Manifest = await Bun.file(join(ROOT, 'package.json')).json()
const bunfig = Bun.TOML.parse(await Bun.file(join(ROOT, 'bunfig.toml')).text()) as Bunfig
const DAY_SECONDS = 86_400
const EXACT = /^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/
/** Install scripts that no one here runs, and why that is all right. */
const REFUSED = {
  '@google/genai': 'prints one line',
  '@openrouter/sdk': 'asks the vendor for its models, and warns if the types are old',
  '@scarf/scarf': 'reports the install to a third party',
  protobufjs: 'warns about version ranges',
}
const ALLOWED_LICENCES = new Set([
  ...['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Unlicense', 'OFL-1.1', 'MPL-2.0', 'MIT-0', '0BSD'],
  ...['MIT OR Apache-2.0', 'MIT and ISC', '(MIT OR CC0-1.0)', '(AFL-2.1 OR BSD-3-Clause)', 'BlueOak-1.0.0', 'PSF-2.0'],
])

test('S28: every dependency is pinned to one version, and so is Bun', () => {
  const asked = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(Object.entries(asked).filter(([, version]) => !EXACT.test(version))).toEqual([])
  expect(manifest.packageManager).toBe(`bun@${Bun.version}`)
  expect(bunfig.install.exact).toBe(true)
})

test('S28: a version is installed a week after its publication at the earliest', () => {
  expect(bunfig.install.minimumReleaseAge).toBeGreaterThanOrEqual(7 * DAY_SECONDS)
  // Nobody is let through ahead of time.
  expect(Object.keys(bunfig.install).sort()).toEqual(['exact', 'minimumReleaseAge'])
})

test('S28: each install script is trusted by name or refused with a reason; every trusted one exists', async () => {
  const packages = await readPackages()
  const asking = packages.filter(({ installScripts }) => installScripts.length > 0).map(({ name }) => name)
  const trusted = manifest.trustedDependencies
  expect(asking.filter((name) => !trusted.includes(name) && !(name in REFUSED))).toEqual([])
  const installed = new Set(packages.filter(({ licence }) => licence !== undefined).map(({ name }) => name))
  expect(trusted.filter((name) => installed.has(name) && !asking.includes(name))).toEqual([])
  const known = new Set(packages.map(({ name }) => name))
  expect(trusted.filter((name) => !known.has(name))).toEqual([])
})

test('S28: the lockfile has a SHA-512 per package, which the installed packages match', async () => {
  for (const { name, version, sha512, licence, path } of await readPackages()) {
    expect(`${name} ${sha512.length}`).toBe(`${name} 128`)
    if (licence === undefined) continue
    const { version: installed } = await Bun.file(join(ROOT, path, 'package.json')).json()
    expect(`${name}@${installed}`).toBe(`${name}@${version}`)
  }
})

test('S28: every installed package has a known licence', async () => {
  const packages = await readPackages()
  const strange = packages.filter(({ licence }) => licence !== undefined && !ALLOWED_LICENCES.has(licence))
  expect(strange.map(({ name, licence }) => `${name}: ${licence}`)).toEqual([])
})

test('S28: packages with advisories are newer than the last affected version', () => {
  const least: Record<string, string> = { elysia: '1.4.30', 'better-auth': '1.3.26' }
  for (const [name, version] of Object.entries(least)) {
    const pinned = manifest.dependencies[name] ?? ''
    expect(`${name} ${Bun.semver.order(pinned, version) >= 0}`).toBe(`${name} true`)
  }
  expect(Bun.semver.order(Bun.version, '1.3.5')).toBe(1)
})

test('one command writes the same bill of materials and licence table each time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sbom-'))
  try {
    const command = [process.execPath, 'test/supply-chain/print.ts', folder]
    const run = Bun.spawn(command, { cwd: ROOT, stdout: 'pipe', stderr: 'inherit' })
    expect(await run.exited).toBe(0)
    const bill: ReturnType<typeof billOfMaterials> = await Bun.file(join(folder, 'sbom.json')).json()
    const packages = await readPackages()
    expect(bill).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: { component: { name: 'svc-gateway' } },
    })
    expect(bill.components).toHaveLength(packages.length)
    expect(new Set(bill.components.map((each) => each['bom-ref'])).size).toBe(packages.length)
    expect(bill.components.find(({ name }) => name === 'elysia')).toMatchObject({
      ...{ purl: `pkg:npm/elysia@${manifest.dependencies.elysia}`, licenses: [{ license: { id: 'MIT' } }] },
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    })
    expect(bill.components.find(({ name }) => name === '@mantine/core')?.purl).toStartWith('pkg:npm/%40mantine/core@')
    expect(await Bun.file(join(folder, 'licences.md')).text()).toBe(licenceTable(packages))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
