/** Writes the guide's tables of operations into its pages. */
import { GUIDE_TABLES, HEADER } from './guide-tables'

for (const { page, table } of GUIDE_TABLES) {
  const text = await Bun.file(page).text()
  const begin = text.indexOf(HEADER)
  const end = text.indexOf('\n\n', begin)
  await Bun.write(page, text.slice(0, begin - 1) + table + text.slice(end + 2))
}
