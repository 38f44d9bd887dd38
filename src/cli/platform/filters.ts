type OneOrSeveral<Name extends string, Value> = Readonly<
  Partial<Record<Name, Value> & Record<`${Name}__in`, readonly Value[]>>
>;

/** One value is the filter `name`, several are `name__in` (API §4.2, §4.5, §4.10). */
export function oneOrSeveral<Name extends string, Value>(
  name: Name,
  values: readonly Value[] | undefined,
): OneOrSeveral<Name, Value> {
  const several = values !== undefined && values.length > 1;
  const filter = several
    ? { [`${name}__in`]: values }
    : values === undefined
      ? {}
      : { [name]: values[0] };
  // The compiler does not follow a computed name.
  return filter as OneOrSeveral<Name, Value>;
}
