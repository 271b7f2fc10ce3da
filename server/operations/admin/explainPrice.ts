import type { components } from '../../../generated/http.ts';
import { modelFailure } from '../../calls/model-failure.ts';
import { openApiBundle } from '../../http/contract-documents.ts';
import type { Handler, OperationRequest } from '../../http/handler.ts';
import { findRoute } from '../../http/routes.ts';
import { bodyCheck } from '../../http/validate-request.ts';
import type { Caller } from '../../keys/caller.ts';
import { callerOf } from '../../keys/key-cache.ts';
import { Failure, invalid, NoChannelFailure, notFound } from '../../lib/failure.ts';
import { findModel, knownModel, modelNotFound, quoted } from '../../models/catalogue.ts';
import { readReport } from '../../providers/video-report.ts';
import { explainCost } from '../../quota/charge-explanation.ts';
import { boundFigures, type ReportedUsage } from '../../quota/price-rules.ts';
import type { PricedRequest } from '../../quota/priced-request.ts';
import { type CostTerms, costOf } from '../../quota/prices.ts';
import { appliedRule, chargeableUsage, highestUsage } from '../../quota/quote.ts';
import { reportedPrice } from '../../quota/reported-price.ts';
import type { AppliedRule } from '../../settings/price-rules.ts';
import { missingFigures } from '../../settings/priced-models.ts';
import { displayOf } from '../../settings/settings.ts';
import { findToken } from '../../store/queries/tokens.ts';
import { findUser } from '../../store/queries/users.ts';
import { type PricedId, pricedIds, pricedOperations, priceRequest } from '../priced-operations.ts';
import { success } from '../success.ts';

type Request = OperationRequest<'explainPrice'>;
type Body = Request['body'];
type Calculation = components['schemas']['PriceCalculation'];

/** A request for one operation. */
interface Order {
  operation: PricedId;
  body: object;
}

/** Explains what a request would cost. Reserves nothing, calls no provider and writes nothing. */
export const explainPrice: Handler<'explainPrice'> = async (request, reply) => {
  const { gateway, body } = request;
  const { caller, displayGroup } = await senderOf(request);
  const { operation, body: orderBody } = orderOf(request);
  try {
    const { priced, channels, possible } = await priceRequest(operation, {
      ...request,
      caller,
      body: orderBody,
    }).catch(rethrowForBody);
    const { model } = priced;
    const fields = priced.priceFields?.() ?? {};
    const usage = body.usage && reportedUsage(body.usage, priced);
    if (body.reported !== undefined && possible === undefined)
      throw invalid('reported', `is only for models that make videos, which ${model.id} does not.`);
    const { fields: report, ignored } = readReport(possible ?? {}, body.reported ?? {});
    const isSettled = usage !== undefined || body.reported !== undefined;
    const calculate = (terms: CostTerms) => ({
      reservation: reservation(priced, terms),
      settlement: isSettled ? settlement(priced, terms, usage ?? {}, report) : null,
    });
    const terms = gateway.prices.terms(model.id, caller.group, priced.priceFields);
    const serving = gateway.channels.all.filter((channel) => channels.includes(channel));
    const display = displayOf(gateway.settings, displayGroup);
    const data = {
      operation,
      model: model.id,
      unit: model.unit,
      group: caller.group,
      revision: terms.configRevision,
      fields: { ...fields },
      ignored: Object.keys(ignored),
      display: display ? { quota_per_unit: display.quotaPerUnit, currency: display.currency } : null,
      ...calculate(terms),
      costs: serving.map(({ name: channel }) => {
        const costs = gateway.vendorCosts.termsOf(channel, model.id, () => fields);
        return { channel, ...(costs ? calculate(costs) : { reservation: null, settlement: null }) };
      }),
    };
    reply.json(200, success(data));
  } catch (error) {
    throw error instanceof RangeError ? invalid('body', 'the price must be below 2^53 quota.') : error;
  }
};

/** Returns the sender of the explained request, and the group whose currency its user sees. */
async function senderOf({
  gateway,
  caller,
  body,
}: Request): Promise<{ caller: Caller; displayGroup: string }> {
  const { user_id: userId, token_id: tokenId, group } = body;
  const { read } = gateway.store;
  if (group !== undefined && !Object.hasOwn(gateway.settings.groups, group))
    throw invalid('group', `there is no group ${quoted(group)}.`);
  const token = tokenId === undefined ? undefined : await findToken(read, tokenId);
  if (tokenId !== undefined && token === undefined) throw notFound('token_id', 'there is no such key.');
  if (token !== undefined && userId !== undefined && token.userId !== userId)
    throw notFound('token_id', 'the user has no such key.');
  const user = await findUser(read, token?.userId ?? userId ?? caller.userId);
  if (user === undefined) throw notFound('user_id', 'there is no such user.');
  const own = token !== undefined ? callerOf(token) : userId === undefined ? caller : callerFor(user);
  return { caller: { ...own, group: group ?? own.group }, displayGroup: group ?? user.group };
}

/** Returns a caller with the rights of a user's key without limits. */
function callerFor({ id: userId, group }: { id: number; group: string }): Caller {
  return { tokenId: 0, userId, tokenName: '', isAdmin: false, group, modelLimits: null };
}

const checkBody = bodyCheck(openApiBundle, modelFailure);

/** Returns the operation and the body of the explained request. @throws Failure 400 when the body is not valid, 404 without the model */
function orderOf({ gateway, body: { operation: name, model, body } }: Request): Order {
  const wanted = model ?? (typeof body.model === 'string' ? body.model : undefined);
  if (name !== undefined) {
    const order = orderFor(operationNamed(name), wanted, body);
    const failure = checkBody(order.operation, order.body);
    if (failure !== undefined) throw ofBody(failure);
    return order;
  }
  if (wanted === undefined) throw invalid('model', 'is required, unless body or operation names it.');
  const orders = operationsOf(gateway, wanted).map((id) => orderFor(id, wanted, body));
  const [first] = orders;
  if (first === undefined)
    throw invalid('model', `${quoted(wanted)} is served on sockets only, whose prices cannot be explained.`);
  const failures = orders.map((order) => checkBody(order.operation, order.body));
  const valid = orders[failures.indexOf(undefined)];
  if (valid !== undefined) return valid;
  const others = orders.slice(1).map(({ operation }) => operation);
  const hint = others.length === 0 ? '' : ` Set operation if the body is for ${others.join(' or ')}.`;
  throw ofBody(failures[0], hint);
}

/** Finds a priced operation by its id or path. */
function operationNamed(name: string): PricedId {
  const id = name.startsWith('/') ? findRoute(name)?.methods.get('post')?.operation.id : name;
  const found = pricedIds.find((one) => one === id);
  if (found !== undefined) return found;
  throw invalid('operation', `must be one of ${pricedIds.join(', ')}, or the path of one.`);
}

/** Returns the operations that serve a model. @throws Failure 404 when the model does not exist */
function operationsOf({ channels }: Request['gateway'], id: string): PricedId[] {
  const listed: ReadonlySet<string> = new Set(
    channels.all.filter((channel) => channel.lists(id)).map(({ settings }) => settings.protocol),
  );
  if (!knownModel(id) && listed.size === 0) throw modelNotFound(id);
  const protocols: ReadonlySet<string> = knownModel(id) ? new Set(findModel(id).protocols) : listed;
  return pricedIds.filter((one) => {
    const { fixedModel, protocols: served } = pricedOperations[one];
    return fixedModel === undefined ? served.some((protocol) => protocols.has(protocol)) : fixedModel === id;
  });
}

function orderFor(operation: PricedId, model: string | undefined, body: Body['body']): Order {
  const { fixedModel } = pricedOperations[operation];
  if (fixedModel === undefined)
    return { operation, body: { ...body, ...(model !== undefined && { model }) } };
  if (model !== undefined && model !== fixedModel && !('model' in body))
    throw invalid('model', `must be ${fixedModel}, the only model of ${operation}.`);
  return { operation, body };
}

/** Renders a failure of the explained request as one of this request. Failures of the gateway itself are unchanged. */
function rethrowForBody(error: unknown): never {
  throw error instanceof Failure ? ofBody(error) : error;
}

/** Returns the failure of the explained request as one of the field `body`. */
function ofBody(failure: Failure | undefined, hint = ''): Failure {
  if (failure === undefined) return invalid('body', 'is not valid.');
  const { status, message } = failure;
  if (status === 404) return new Failure(404, 'resource_not_found', message);
  if (status >= 500 && !(failure instanceof NoChannelFailure)) return failure;
  const isField = /^(?!model:)[\w.]+: /.test(message) && !message.startsWith('body');
  return new Failure(400, 'invalid_request', `${isField ? 'body.' : ''}${message}${hint}`);
}

/** Returns the given figures as a provider reports them. @throws Failure 400 for a figure that the model does not have */
function reportedUsage(usage: NonNullable<Body['usage']>, { model }: PricedRequest): ReportedUsage {
  const priced = { ...model, isVideo: model.unit === 'seconds', protocols: [] };
  const [unknown] = missingFigures({ per: usage }, priced);
  if (unknown !== undefined) throw invalid(`usage.${unknown}`, `is no figure of ${model.id}.`);
  const {
    input_tokens: inputTokens,
    cached_tokens: cachedTokens,
    cache_write_tokens: cacheWriteTokens,
  } = usage;
  const outputTokens = usage.completion_tokens ?? usage.output_tokens;
  const sum =
    inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens;
  const units = usage.units ?? usage[model.unit] ?? (model.unit === 'tokens' ? sum : undefined);
  return {
    ...(units !== undefined && { units }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

/** Calculates the upper bound, which is reserved. */
function reservation(priced: PricedRequest, terms: CostTerms): Calculation {
  const { rule, bounds, amount } = highestUsage(priced, terms);
  const applied = rule && { ...rule, figures: boundFigures(rule, bounds) };
  return calculation({ units: bounds.units, unit: priced.model.unit, rule: applied, quota: amount }, terms);
}

/** Calculates the charge for a report of the provider. */
function settlement(
  priced: PricedRequest,
  requested: CostTerms,
  usage: ReportedUsage,
  report: Parameters<typeof reportedPrice>[3],
): Calculation {
  const { terms, bounds, reported } = reportedPrice(priced, requested, usage, report);
  const charged = chargeableUsage(usage, terms, bounds);
  const { units } = charged.usage;
  const rule = appliedRule(terms, charged.usage, reported);
  const quota = costOf(charged.usage, terms);
  const price = calculation({ units, unit: priced.model.unit, rule, quota }, terms);
  return { ...price, replaced: [...charged.replaced] };
}

interface CalculatedPrice {
  units: number;
  unit: string;
  rule: AppliedRule | null;
  quota: number;
}

function calculation(
  { quota, ...price }: CalculatedPrice,
  { unitPrice, groupRatio }: CostTerms,
): Calculation {
  const { units, rule } = price;
  return {
    units,
    unit_price: unitPrice,
    price_rule: rule,
    group_ratio: groupRatio,
    quota,
    replaced: [],
    explanation: explainCost({ ...price, unitPrice, groupRatio, cost: quota }),
  };
}
