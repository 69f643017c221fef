/** Loaded before a gateway: shifts its wall clock by CLOCK_SHIFT_MS, and by as much again at every SIGUSR2. */
const realNow = Date.now
const stepMs = Number(process.env.CLOCK_SHIFT_MS ?? 0)
let shiftMs = stepMs

Date.now = () => realNow() + shiftMs
globalThis.Date = new Proxy(Date, {
  construct: (target, args: []) => (args.length === 0 ? new target(realNow() + shiftMs) : new target(...args)),
})
process.on('SIGUSR2', () => {
  shiftMs += stepMs
})
