/** The public methods of a class. */
type Methods<Table> = {
  readonly [
    Name in keyof Table as Table[Name] extends (...args: never[]) => unknown ? Name : never
  ]: Table[Name];
};

/**
 * The methods of a table as properties that can be spread into a store. The table extends no other
 * class.
 */
export function methodsOf<Table extends object>(table: Table): Methods<Table> {
  const own = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(table) as object);
  const methods = Object.entries(own).flatMap(([name, { value }]) =>
    name !== 'constructor' && typeof value === 'function'
      ? [[name, (value as () => unknown).bind(table)] as const]
      : [],
  );
  // The prototype's own methods are exactly those of the type, because no table extends another.
  return Object.fromEntries(methods) as Methods<Table>;
}

/** Operations of a database's thread or of a server, as their callers see them: each is asynchronous. */
export type Remote<Sync> = {
  readonly [Name in keyof Sync]: Sync[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Result>
    : never;
};
