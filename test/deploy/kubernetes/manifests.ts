/** Reads what deploy/kubernetes has: the objects of base/, what it lists, and the files of the example. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'

export const FOLDER = join(ROOT, 'deploy', 'kubernetes')
export const BASE = join(FOLDER, 'base')
export const EXAMPLE = join(FOLDER, 'example')

type Probe = {
  httpGet: { path: string; port: string }
  periodSeconds: number
  timeoutSeconds: number
  failureThreshold: number
}

type Container = {
  image: string
  ports: { name: string; containerPort: number }[]
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  resources: { limits: Record<string, string> }
  securityContext: object
  volumeMounts: { name: string; mountPath: string }[]
}

type Labels = Record<string, string>
type Selector = { matchLabels: Labels }

type Pod = {
  automountServiceAccountToken: boolean
  serviceAccountName: string
  securityContext: object
  terminationGracePeriodSeconds: number
  topologySpreadConstraints: { labelSelector: Selector }[]
  initContainers: [Pick<Container, 'image' | 'envFrom' | 'securityContext'> & { name: string; command: string[] }]
  containers: [Container]
  volumes: { name: string; configMap?: { name: string }; secret?: { secretName: string }; emptyDir?: object }[]
}

/** What the tests read of each kind; the schemas say what else there may be. */
type Specs = {
  Deployment: {
    replicas?: number
    selector: Selector
    strategy: { rollingUpdate: object }
    template: { metadata: { labels: Labels }; spec: Pod }
  }
  Service: { selector?: Labels; ports: { targetPort: string }[] }
  Ingress: {
    rules: { http: { paths: { path: string; pathType: string; backend: { service: { name: string } } }[] } }[]
  }
  HorizontalPodAutoscaler: {
    scaleTargetRef: object
    minReplicas: number
    maxReplicas: number
    metrics: { pods?: { metric: { name: string } } }[]
    behavior: Record<
      'scaleUp' | 'scaleDown',
      { stabilizationWindowSeconds: number; policies: { type: string; value: number; periodSeconds: number }[] }
    >
  }
  PodDisruptionBudget: { maxUnavailable: number; selector: Selector }
  NetworkPolicy: { podSelector: Selector; ingress: { ports: object[] }[] }
  Namespace: undefined
  ServiceAccount: undefined
  ConfigMap: undefined
  Secret: undefined
}

/** An object of Kubernetes. */
export type Manifest<Kind extends keyof Specs = keyof Specs> = {
  apiVersion: string
  kind: Kind
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Labels }
  spec: Specs[Kind]
  data?: Record<string, string>
  automountServiceAccountToken?: boolean
}

export type Kustomization = {
  resources: string[]
  configMapGenerator: { name: string; envs?: string[]; files?: string[]; literals?: string[]; options?: object }[]
  secretGenerator: { name: string; envs: string[]; options?: object }[]
}

/** Every document of a file of YAML. */
export async function readDocuments<Document>(path: string): Promise<Document[]> {
  const parsed = Bun.YAML.parse(await Bun.file(path).text())
  return (Array.isArray(parsed) ? parsed : [parsed]) as Document[]
}

/** The files of base/ that hold objects. */
export function manifestFiles(): string[] {
  return readdirSync(BASE).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
}

/** All objects of base/. */
export async function readManifests(): Promise<Manifest[]> {
  const read = await Promise.all(manifestFiles().map((name) => readDocuments<Manifest>(join(BASE, name))))
  return read.flat()
}

/** The only object of this kind and name. Throws if there is none, or another. */
export function theOne<Kind extends keyof Specs>(
  manifests: readonly Manifest[],
  kind: Kind,
  name = 'svc-gateway',
): Manifest<Kind> {
  const found = manifests.filter((each): each is Manifest<Kind> => each.kind === kind && each.metadata.name === name)
  if (found.length !== 1 || !found[0]) throw new Error(`there are ${found.length} of ${kind} ${name}`)
  return found[0]
}

/** The lines `NAME=value` of a file, as kustomize reads them. */
export async function readVariables(path: string): Promise<Record<string, string>> {
  const lines = (await Bun.file(path).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
