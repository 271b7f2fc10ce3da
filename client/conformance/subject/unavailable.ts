/** Something that a check needs is not to be had from this server; the check is skipped, with this as its reason. */
export class Unavailable extends Error {}
