/** The operations on budgets of accounts, members and keys. */
import { PageQuery } from '@/console/http/pages'
import { listOf } from '@/console/http/wire'
import { operationsOver } from '@/people/operation'
import { BudgetBody, GrantBody, LimitsBody, limitsIn } from './bodies'
import * as budgets from './budgets'
import { BUDGET_COMMANDS } from './commands'

const operation = operationsOver<budgets.BudgetDeps>()

const BudgetList = listOf(BudgetBody, {
  description: 'All existing budgets; developers see their own and their keys’',
})

const list = operation('budget.list', 'GET /budgets', 'usage.read', 'budgets:read', {
  summary: 'List budgets',
  description:
    'Limits and spending of the account, its members and its keys. A key’s monthly budget is one of the key’s limits.',
  takes: PageQuery,
  gives: BudgetList,
  run: budgets.listBudgets,
})

const show = operation('budget.show', 'GET /budgets/:scope/:scopeId', 'usage.read', 'budgets:read', {
  summary: 'Get a budget',
  description: 'With every window, also without a limit: earlier spending counts once a limit is set.',
  names: budgets.BUDGET_PARAMS,
  gives: BudgetBody,
  versioned: limitsIn,
  run: budgets.showBudget,
})

const change = operation('budget.change', 'PUT /budgets/:scope/:scopeId', 'budgets.change', 'budgets:write', {
  summary: 'Set a budget',
  description:
    'Applies to the next request, on every gateway. Earlier spending in a window counts. A smaller window above a larger one is a 400.',
  names: budgets.BUDGET_PARAMS,
  takes: LimitsBody,
  gives: BudgetBody,
  versioned: limitsIn,
  commands: BUDGET_COMMANDS,
  run: budgets.setBudget,
})

const grant = operation('budget.grant', 'POST /budgets/:scope/:scopeId/grant', 'budgets.change', 'budgets:write', {
  summary: 'Raise a budget for the current window',
  description: 'Each call adds to the grant, which ends with the window. The audit log has it.',
  names: budgets.BUDGET_PARAMS,
  takes: GrantBody,
  gives: BudgetBody,
  run: budgets.grantBudget,
})

export const BUDGET_OPERATIONS = [list, show, change, grant] as const
