import type { ChatRequest } from '@/chat/request'
import { quickSize } from '@/gateway/hold/hold-size'
import type { RouteExplanation } from '@/routing/explain'
import type { Plan } from '@/routing/plan/plan'
import type { Router } from '@/routing/router'

/** Computes the route and hold that the request would get if it were paid. Throws `invalid_request` for content without a price. */
export function explainRequest(router: Router, plan: Plan, request: ChatRequest, bodyBytes: number): RouteExplanation {
  const { prompt } = plan.requirements
  return router.explain(plan, request, (answering) => quickSize({ request, prompt, plan: answering }, bodyBytes).amount)
}
