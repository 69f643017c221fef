import { judgeWorstBodies } from './worst-bodies'
import { startGatewayProcess } from './world'
const g = await startGatewayProcess()
console.log(await judgeWorstBodies(g, (l) => console.log(l)))
await g.stop()
process.exit(0)
