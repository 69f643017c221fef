/** The Kubernetes manifests match the gateway and each other: settings, ports, probes, times, labels, metrics, rights. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readExample } from '@test/deploy/compose-file'
import { catalogNames, settingNames } from '@test/deploy/setting-names'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { loadConfig } from '@/config/config'
import {
  BASE,
  EXAMPLE,
  FOLDER,
  type Kustomization,
  manifestFiles,
  readDocuments,
  readManifests,
  readVariables,
  theOne,
} from './manifests'

const manifests = await readManifests()
const [base] = await readDocuments<Kustomization>(join(BASE, 'kustomization.yaml'))
const [example] = await readDocuments<Kustomization>(join(EXAMPLE, 'kustomization.yaml'))
const deployment = theOne(manifests, 'Deployment').spec
const pod = deployment.template.spec
const [container] = pod.containers
const [migration] = pod.initContainers
const labels: Record<string, string> = deployment.template.metadata.labels
const settings = await readVariables(join(BASE, 'settings.env'))
const secrets = await readVariables(join(EXAMPLE, 'secrets.env'))
const migrator = await readVariables(join(EXAMPLE, 'migrator.env'))
const providerKeys = await readVariables(join(EXAMPLE, 'provider-keys.env'))
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}), environment: { DRAIN_DELAY_MS: '0' } })
})
afterAll(() => gateway.stop())

test('the manifests’ base lists each of its files, and the example has every file that pods read', () => {
  expect(base?.resources.toSorted()).toEqual(manifestFiles().toSorted())
  expect(example?.resources).toEqual(['../base'])
  const made = [
    ...(base?.configMapGenerator ?? []),
    ...(example?.configMapGenerator ?? []),
    ...(example?.secretGenerator ?? []),
  ].map(({ name }) => name)
  const read = [
    ...[...container.envFrom, ...migration.envFrom].map((each) => (each.configMapRef ?? each.secretRef)?.name),
    ...pod.volumes.flatMap(({ configMap, secret }) => configMap?.name ?? secret?.secretName ?? []),
  ]
  expect([...new Set<string | undefined>(made)].toSorted()).toEqual(read.toSorted())
})

describe('the settings', () => {
  test('every setting is known to the gateway or the catalogue, and occurs once', async () => {
    const known = [...settingNames(), ...(await catalogNames())]
    const told = [
      ...Object.keys(settings).map((name) => name.replace(/_FILE$/, '')),
      ...Object.keys(secrets),
      ...Object.keys(migrator),
    ]
    expect(told.filter((name) => !known.includes(name))).toEqual([])
    expect(told.length).toBe(new Set(told).size)
    for (const line of example?.configMapGenerator.flatMap(({ literals = [] }) => literals) ?? [])
      expect(known).toContain(line.split('=')[0] ?? '')
  })

  test('the completed settings of the manifests start in production, and contain no secret', async () => {
    expect(Object.entries({ ...secrets, ...migrator, ...providerKeys }).filter(([, value]) => value !== '')).toEqual([])
    const wanted = [...(await readExample())].filter(([, { value, isSet }]) => isSet && value === '')
    const elsewhere = /_PASSWORD$|^PUBLIC_URL$/
    const missing = wanted
      .map(([name]) => name)
      .filter((name) => !(name in { ...secrets, ...providerKeys }) && !elsewhere.test(name))
    expect(missing).toEqual([])
    const filled = {
      ...{ AUTH_SECRET: 'x'.repeat(40), METRICS_TOKEN: 'y'.repeat(40) },
      ...{ REDIS_URL: 'rediss://svc:secret@redis:6379', DATABASE_URL: 'postgres://svc_gateway:secret@postgres/svc' },
    }
    const literals = example?.configMapGenerator.flatMap((each) => each.literals ?? []) ?? []
    const merged = Object.fromEntries(literals.map((line) => line.split('=') as [string, string]))
    const loaded = loadConfig({ ...settings, ...merged, ...secrets, ...filled }, { isSimulated: false })
    expect(loaded).toMatchObject({ kind: 'loaded', config: { isProduction: true, host: '0.0.0.0', port: 3000 } })
  })

  test('the settings of the manifests name the catalogue’s mount path', () => {
    const mount = container.volumeMounts.find(({ name }) => name === 'catalog')
    const [file] = example?.configMapGenerator.flatMap(({ files = [] }) => files) ?? []
    expect(settings.CATALOG).toBe(`${mount?.mountPath}/${file}`)
  })

  test('each provider key is a file; reloadable files keep their names, so that no pod restarts', () => {
    const mount = container.volumeMounts.find(({ name }) => name === 'provider-keys')
    const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'))
    expect(files).toEqual(Object.keys(providerKeys).map((name) => [`${name}_FILE`, `${mount?.mountPath}/${name}`]))
    const made = [...(example?.configMapGenerator ?? []), ...(example?.secretGenerator ?? [])]
    const lasting = made.filter(({ options }) => Bun.deepEquals(options, { disableNameSuffixHash: true }))
    const mounted = pod.volumes.flatMap(({ configMap, secret }) => configMap?.name ?? secret?.secretName ?? [])
    expect(lasting.map(({ name }) => name).toSorted()).toEqual(mounted.toSorted())
  })
})

describe('a pod', () => {
  test('a pod is probed at its port and existing paths', async () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: Number(settings.PORT) }])
    for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { httpGet } = container[kind]
      expect(httpGet.port).toBe('http')
      expect((await fetch(gateway.url + httpGet.path)).status).toBe(200)
    }
    expect(container.livenessProbe.httpGet.path).toBe('/healthz')
    expect(container.startupProbe.httpGet.path).toBe('/healthz')
    expect(container.readinessProbe.httpGet.path).toBe('/readyz')
  })

  test('a stopping pod gets no new requests before its port closes, and is killed only after its full grace period', () => {
    const { periodSeconds, failureThreshold, timeoutSeconds } = container.readinessProbe
    const noticedMs = (periodSeconds * failureThreshold + timeoutSeconds) * 1000
    const drainMs = Number(settings.DRAIN_DELAY_MS)
    expect(drainMs).toBeGreaterThan(2 * noticedMs)
    const wholeMs = drainMs + Number(settings.SHUTDOWN_TIMEOUT_MS)
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(wholeMs + 10_000)
    expect(deployment.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
  })

  test('a pod migrates before its gateway starts, with a role that the gateway lacks', () => {
    expect(migration).toMatchObject({ image: container.image, command: ['svc', 'admin', 'schema', 'migrate'] })
    expect(migration.securityContext).toEqual(container.securityContext)
    expect(migration.envFrom).toEqual([{ secretRef: { name: 'svc-gateway-migrator' } }])
    expect(Object.keys(migrator)).toEqual(['DATABASE_MIGRATOR_URL'])
    expect(Object.keys({ ...settings, ...secrets })).not.toContain('DATABASE_MIGRATOR_URL')
    const given = [...container.envFrom.map((each) => (each.configMapRef ?? each.secretRef)?.name)]
    const mounted = pod.volumes.flatMap(({ secret }) => secret?.secretName ?? [])
    expect([...given, ...mounted]).not.toContain('svc-gateway-migrator')
  })

  test('a pod has no privileges, as the namespace requires, and writes nothing permanent', () => {
    expect(theOne(manifests, 'Namespace').metadata.labels).toEqual({
      'pod-security.kubernetes.io/enforce': 'restricted',
    })
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect([pod.automountServiceAccountToken, pod.serviceAccountName]).toEqual([false, 'svc-gateway'])
    expect(theOne(manifests, 'ServiceAccount')).toMatchObject({ automountServiceAccountToken: false })
    expect(pod.volumes.map((volume) => Object.keys(volume).find((name) => name !== 'name'))).toEqual([
      'configMap',
      'secret',
      'emptyDir',
    ])
    expect(Object.keys(container.resources.limits)).toEqual(['memory'])
  })
})

describe('selectors', () => {
  test('selectors in the manifests match the pods of the deployment', () => {
    const selectors = [
      deployment.selector.matchLabels,
      theOne(manifests, 'Service').spec.selector,
      theOne(manifests, 'PodDisruptionBudget').spec.selector.matchLabels,
      theOne(manifests, 'NetworkPolicy').spec.podSelector.matchLabels,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ]
    for (const selector of selectors) expect(selector).toEqual(labels)
    const { scaleTargetRef } = theOne(manifests, 'HorizontalPodAutoscaler').spec
    const { apiVersion, kind, metadata } = theOne(manifests, 'Deployment')
    expect(scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name })
  })

  test('the disruption budget keeps enough gateways running', () => {
    const { minReplicas, maxReplicas } = theOne(manifests, 'HorizontalPodAutoscaler').spec
    expect(minReplicas).toBeGreaterThan(theOne(manifests, 'PodDisruptionBudget').spec.maxUnavailable + 1)
    expect(maxReplicas).toBeGreaterThan(minReplicas)
    expect(deployment.replicas).toBeUndefined()
  })

  test('Ingress and network policy lead to the gateway’s port; metrics and readiness are private', () => {
    const paths = theOne(manifests, 'Ingress').spec.rules[0]?.http.paths.map(
      ({ path, pathType, backend }) => `${pathType} ${path} ${backend.service.name}`,
    )
    expect(paths).toEqual([
      'Prefix / svc-gateway',
      'Exact /metrics svc-gateway-nobody',
      'Exact /readyz svc-gateway-nobody',
    ])
    expect(theOne(manifests, 'Service', 'svc-gateway-nobody').spec.selector).toBeUndefined()
    const [port] = theOne(manifests, 'Service').spec.ports
    expect(port?.targetPort).toBe('http')
    const [ingress] = theOne(manifests, 'NetworkPolicy').spec.ingress
    expect(ingress?.ports).toEqual([{ protocol: 'TCP', port: 'http' }])
  })
})

test('the autoscaler uses a metric that each gateway has, and scales down slowly', async () => {
  const [streams] = theOne(manifests, 'HorizontalPodAutoscaler').spec.metrics
  const name = streams?.pods?.metric.name ?? ''
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(new RegExp(`^${name}(\\{.*\\})? 0$`, 'm'))
  type Rule = { seriesQuery: string; name: { as: string } }
  const rules = await readDocuments<Rule>(join(FOLDER, 'prometheus-adapter.yaml'))
  expect(rules.map(({ name: { as }, seriesQuery }) => [as, seriesQuery.split('{')[0]])).toEqual([[name, name]])
  const { scaleUp, scaleDown } = theOne(manifests, 'HorizontalPodAutoscaler').spec.behavior
  expect(scaleDown.stabilizationWindowSeconds).toBeGreaterThan(scaleUp.stabilizationWindowSeconds)
  expect(scaleDown.policies).toEqual([{ type: 'Pods', value: 1, periodSeconds: 180 }])
  const leastMs = Number(settings.DRAIN_DELAY_MS) + Number(settings.SHUTDOWN_TIMEOUT_MS)
  expect((scaleDown.policies[0]?.periodSeconds ?? 0) * 1000).toBeGreaterThan(leastMs)
})

test('either nginx controller passes streams on unbuffered, and lets them be long', () => {
  const annotations = theOne(manifests, 'Ingress').metadata.annotations ?? {}
  const told = (key: string) => [
    annotations[`nginx.ingress.kubernetes.io/${key}`],
    annotations[`nginx.org/${key}`] ?? annotations[`nginx.org/${key.replace('proxy-body', 'client-max-body')}`],
  ]
  expect(told('proxy-buffering')).toEqual(['off', 'false'])
  expect(told('proxy-read-timeout')).toEqual(['3600', '3600s'])
  expect(told('proxy-body-size')).toEqual(['20m', '20m'])
  expect(told('proxy-next-upstream')).toEqual(['error timeout', 'error timeout'])
})
