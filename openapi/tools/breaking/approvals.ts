import { Ajv } from 'ajv';
import { parseDocument } from 'yaml';
import type { BreakingChange } from './judge.ts';

/** A breaking change that may be released all the same. */
export interface Approval {
  at: string;
  /** In the words of the check, so that another change at the same place is none that was approved. */
  change: string;
  reason: string;
}

const text = { type: 'string', pattern: '\\S' };
const isApprovals = new Ajv({ allErrors: true }).compile<Approval[]>({
  type: 'array',
  items: {
    type: 'object',
    required: ['at', 'change', 'reason'],
    additionalProperties: false,
    properties: { at: text, change: text, reason: text },
  },
});

/** Reads the text of approved-changes.yaml. @throws Error that lists every mistake */
export function readApprovals(yaml: string): Approval[] {
  const document = parseDocument(yaml);
  const file: unknown = document.toJS() ?? [];
  const mistakes = [
    ...document.errors.map(({ message }) => message),
    ...(isApprovals(file)
      ? []
      : (isApprovals.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)),
  ];
  if (mistakes.length > 0) throw new Error(mistakes.join('; '));
  return file as Approval[];
}

export interface Approved {
  unapproved: BreakingChange[];
  approved: (BreakingChange & { reason: string })[];
  /** Approvals of what is no breaking change, or not any more. */
  idle: Approval[];
}

export function approve(breaking: readonly BreakingChange[], approvals: readonly Approval[]): Approved {
  const fits = (one: BreakingChange) => (approval: Approval) =>
    approval.at === one.at && approval.change === one.change;
  return {
    unapproved: breaking.filter((one) => !approvals.some(fits(one))),
    approved: breaking.flatMap((one) => {
      const approval = approvals.find(fits(one));
      return approval === undefined ? [] : [{ ...one, reason: approval.reason }];
    }),
    idle: approvals.filter((approval) => !breaking.some((one) => fits(one)(approval))),
  };
}
