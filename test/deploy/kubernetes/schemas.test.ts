/** The manifests are valid by the strict schemas of the oldest and newest supported Kubernetes version. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'
import { complaintsOf, python } from '@test/deploy/judges'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { BASE, EXAMPLE, FOLDER, type Manifest, manifestFiles, readDocuments, theOne } from './manifests'

/** `unhealthyPodEvictionPolicy` and `matchLabelKeys` are on by default from the first on. */
const VERSIONS = ['1.27', '1.37']
/** What puts an installation together: part of kubectl, or the program by itself. */
const kubectl = Bun.which('kubectl')
const alone = Bun.which('kustomize')
const kustomize = kubectl ? [kubectl, 'kustomize'] : alone && [alone, 'build']
if (!kustomize) process.stderr.write('SKIPPED: the example is not put together: no kubectl or kustomize on the PATH.\n')
let folder: string

const complaints = (version: string, files: readonly string[]) =>
  complaintsOf('kubernetes_validate', '--strict', '--quiet', '-k', version, ...files)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-kubernetes-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe.skipIf(!python)('the schemas of Kubernetes', () => {
  for (const version of VERSIONS) {
    test(`the schemas accept each object in version ${version}`, async () => {
      const files = manifestFiles().map((name) => join(BASE, name))
      expect(files.length).toBeGreaterThan(6)
      expect(await complaints(version, files)).toBe('')
    })
  }

  test('the schemas refuse a misspelt field and a missing one', async () => {
    const text = await Bun.file(join(BASE, 'deployment.yaml')).text()
    for (const [right, wrong] of [
      ['readinessProbe:', 'readynessProbe:'],
      ['    matchLabels:', '    matchLabel:'],
    ] as const) {
      const path = join(folder, 'wrong.yaml')
      await Bun.write(path, text.replace(right, wrong))
      expect(await complaints('1.37', [path])).toContain('svc-gateway')
    }
  })

  test.skipIf(!kustomize)(
    'the schemas accept the output of kustomize for the example, and each name in it exists',
    async () => {
      const copy = join(folder, 'kubernetes')
      await cp(FOLDER, copy, { recursive: true })
      await copyFile(join(ROOT, 'config', 'catalog.json'), join(copy, 'example', 'catalog.json'))
      const child = Bun.spawn([...(kustomize || []), join(copy, 'example')], {
        env: { ...BARE_ENVIRONMENT, HOME: folder },
        stdout: Bun.file(join(folder, 'made.yaml')),
        stderr: 'pipe',
      })
      expect(`${await child.exited} ${await new Response(child.stderr).text()}`).toBe('0 ')
      expect(await complaints('1.37', [join(folder, 'made.yaml')])).toBe('')
      const made = await readDocuments<Manifest>(join(folder, 'made.yaml'))
      const names = made.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      const pod = theOne(made, 'Deployment').spec.template.spec
      const [{ image, envFrom }] = pod.containers
      expect(image).toStartWith('registry.example/svc-gateway:')
      const [settingsName, secretsName] = [envFrom[0]?.configMapRef?.name, envFrom[1]?.secretRef?.name]
      expect(names).toContain(`ConfigMap ${settingsName}`)
      expect(names).toContain(`Secret ${secretsName}`)
      expect(names).toContain(`ConfigMap ${pod.volumes[0]?.configMap?.name}`)
      expect(names).toContain(`Secret ${pod.volumes[1]?.secret?.secretName}`)
      const settings = made.find(({ metadata }) => metadata.name === settingsName)?.data
      expect(settings).toMatchObject({ NODE_ENV: 'production', PUBLIC_URL: 'https://gateway.example' })
      expect(made.filter(({ metadata }) => metadata.namespace !== 'svc-gateway').map(({ kind }) => kind)).toEqual([
        'Namespace',
      ])
    },
  )
})

test('the example overlay contains only what an installation needs', async () => {
  expect([...new Bun.Glob('*').scanSync(EXAMPLE)].toSorted()).toEqual([
    'kustomization.yaml',
    'migrator.env',
    'provider-keys.env',
    'secrets.env',
  ])
})
