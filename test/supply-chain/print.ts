/** The command `bun run sbom`: writes the bill of materials and the table of licences to the folder named, `.sbom` by default. */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ROOT, readPackages } from './packages'
import { billOfMaterials, licenceTable } from './sbom'

const folder = resolve(process.argv[2] ?? join(ROOT, '.sbom'))
const { name, version } = await Bun.file(join(ROOT, 'package.json')).json()
const packages = await readPackages()
await mkdir(folder, { recursive: true })
await Bun.write(join(folder, 'sbom.json'), `${JSON.stringify(billOfMaterials({ name, version }, packages), null, 2)}\n`)
await Bun.write(join(folder, 'licences.md'), licenceTable(packages))
process.stdout.write(`${packages.length} packages: ${join(folder, 'sbom.json')}, ${join(folder, 'licences.md')}\n`)
