/** The bill of materials (CycloneDX 1.6) and the table of licences, made of the pinned packages. */
import type { LockedPackage } from './packages'

/** Expressions of SPDX that CycloneDX takes as one; anything else is a name. */
const SIMPLE_ID = /^[A-Za-z0-9.+-]+$/

/** What CycloneDX says of one package. */
type Component = {
  type: 'library'
  'bom-ref': string
  name: string
  version: string
  purl: string
  hashes: { alg: 'SHA-512'; content: string }[]
  licenses: ({ license: { id: string } } | { expression: string })[]
}

/** The whole document. The same packages make the same document, so that two of them can be compared. */
export function billOfMaterials(service: { name: string; version: string }, packages: readonly LockedPackage[]) {
  return {
    bomFormat: 'CycloneDX' as const,
    specVersion: '1.6' as const,
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': service.name, ...service } },
    components: packages.map(componentOf),
  }
}

function componentOf({ name, version, sha512, licence }: LockedPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    ...{ type: 'library', 'bom-ref': purl, name, version, purl },
    hashes: [{ alg: 'SHA-512', content: sha512 }],
    licenses:
      licence === undefined ? [] : [SIMPLE_ID.test(licence) ? { license: { id: licence } } : { expression: licence }],
  }
}

/** Packages by licence, as a table in Markdown. */
export function licenceTable(packages: readonly LockedPackage[]): string {
  const byLicence = Map.groupBy(packages, ({ licence }) => licence ?? 'of another platform, not installed here')
  const rows = [...byLicence]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([licence, own]) => `| ${licence} | ${own.length} | ${own.map(({ name }) => name).join(', ')} |`)
  return ['| licence | packages | which |', '|---|---|---|', ...rows, ''].join('\n')
}
