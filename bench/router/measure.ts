/** How well scores tell hard from easy, and how well they are calibrated. */

export type Judged = { score: number; isHard: boolean }

/** The chance that a hard prompt scores higher than an easy one; 0.5 is guessing. */
export function areaUnderCurve(judged: readonly Judged[]): number {
  const sorted = [...judged].sort((left, right) => left.score - right.score)
  const hard = sorted.filter(({ isHard }) => isHard).length
  const easy = sorted.length - hard
  if (hard === 0 || easy === 0) return Number.NaN
  let ranks = 0
  for (let from = 0; from < sorted.length; ) {
    let to = from + 1
    while (to < sorted.length && sorted[to]?.score === sorted[from]?.score) to++
    const mean = (from + 1 + to) / 2
    for (let index = from; index < to; index++) if (sorted[index]?.isHard) ranks += mean
    from = to
  }
  return (ranks - (hard * (hard + 1)) / 2) / (hard * easy)
}

/** Which share of the hard (or easy) ones scores `threshold` or more. */
export function shareAbove(judged: readonly Judged[], threshold: number, isHard: boolean): number {
  const those = judged.filter((item) => item.isHard === isHard)
  return those.filter(({ score }) => score >= threshold).length / those.length
}
