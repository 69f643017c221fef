/** Makes scores mean what they say: of prompts at 0.7, seven in ten should be hard. Learned where each fit had seen none of the collection. */
import { fit, logistic, sumOf, type TrainingPrompt } from './learn'

/** From a sum to the logistic curve: `slope * (sum + shift)`. */
export type Curve = { slope: number; shift: number }

const FOLDS = 5
const STEPS = 3_000
const RATE = 0.5

/** Fits as often as there are folds, each without every fifth collection, and a curve to what those then scored. */
export function calibrate(prompts: readonly TrainingPrompt[]): Curve {
  const scored = Array.from({ length: FOLDS }, (_, fold) => {
    const isLeftOut = ({ source }: TrainingPrompt) => source % FOLDS === fold
    const fitted = fit(prompts.filter((prompt) => !isLeftOut(prompt)))
    return prompts
      .filter((prompt) => isLeftOut(prompt) && prompt.family === 0)
      .map((prompt) => ({ sum: sumOf(fitted, prompt), label: prompt.label, weight: prompt.weight }))
  }).flat()
  // As if every second request were hard: the collections' own share of hard prompts is nobody's traffic.
  const hard = scored.reduce((sum, { label, weight }) => sum + label * weight, 0)
  const easy = scored.reduce((sum, { label, weight }) => sum + (1 - label) * weight, 0)
  let slope = 1
  let offset = 0
  for (let step = 0; step < STEPS; step++) {
    let [slopeGradient, offsetGradient] = [0, 0]
    for (const { sum, label, weight } of scored) {
      const difficulty = logistic(slope * sum + offset)
      const error = (weight / 2) * (((1 - label) * difficulty) / easy - (label * (1 - difficulty)) / hard)
      slopeGradient += error * sum
      offsetGradient += error
    }
    slope -= RATE * slopeGradient
    offset -= RATE * offsetGradient
  }
  return { slope, shift: offset / slope }
}
