import { type Context, isNode, type Location, type Node, text } from './visit.ts';

/**
 * A deprecated operation, parameter or field has `x-sunset: { since, date, replacement }`: the date of the deprecation, the
 * date after which it may be removed, and a sentence that names the replacement.
 */
export function sunsetForm() {
  const check = (node: Node, ctx: Context) => {
    const sunset = node['x-sunset'];
    if (sunset === undefined && node.deprecated !== true) return;
    const report = (message: string, location: Location = ctx.location.child(['x-sunset'])) =>
      ctx.report({ message, location });
    if (node.deprecated !== true) return report('x-sunset requires deprecated: true.');
    if (!isNode(sunset))
      return report('A deprecated element must have x-sunset.', ctx.location.child(['deprecated']));
    const { since, date, replacement, ...others } = sunset;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) report(`x-sunset: ${unknown} is unknown; use since, date and replacement.`);
    if (!isDate(since)) report('x-sunset: since must be a date such as 2027-01-31.');
    if (!isDate(date)) report('x-sunset: date must be a date such as 2027-01-31.');
    if (isDate(since) && isDate(date) && since >= date) report('x-sunset: date must be after since.');
    if (!/^[A-Z].*\.$/.test(text(replacement))) report('x-sunset: replacement must be a sentence.');
  };
  return { Operation: check, Parameter: check, Schema: check };
}

/** True for an existing day. `Date` accepts the 31st of every month. */
const isDate = (value: unknown): value is string => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text(value))) return false;
  const time = Date.parse(text(value));
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text(value));
};

/** Adds `x-sunset` to the description, so that documentation and generated types show it. */
export function describeSunset() {
  const describe = {
    leave(node: Node) {
      const sunset = node['x-sunset'];
      if (!isNode(sunset)) return;
      const note = `**Deprecated since ${text(sunset.since)}.** May be removed after ${text(sunset.date)}. ${text(sunset.replacement)}`;
      const description = text(node.description).trimEnd();
      // A schema that several elements refer to is visited once for each.
      if (!description.endsWith(note))
        node.description = description === '' ? note : `${description}\n\n${note}`;
    },
  };
  return { Operation: describe, Parameter: describe, Schema: describe };
}
