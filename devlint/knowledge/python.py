"""Python's own: builtins, `copy`, `itertools`, `functools`, `contextlib`, `time`, methods of containers."""

from __future__ import annotations

from .row import Row
from .table import Table

TABLES = (
    Table(
        "",
        Row("container", by="containers.make"),
        """
    list tuple set frozenset(iterable)
    dict(*args)
    reversed(object)
    sorted(iterable, *, key, reverse)
    iter(object, sentinel)
    enumerate(iterable, start): by=containers.enumerate
    zip(*iterables, strict): by=containers.zip
    filter(function, iterable): by=containers.filter
    map(function, *iterables): by=containers.map
    next(iterator, default): gives=element by=containers.next
    vars(object): by=
    """,
    ),
    Table(
        "",
        Row("number"),
        """
    len(obj): by=numbers.measure
    int(x, base): by=numbers.truth topics=sync
    bool(x): by=numbers.truth topics=sync
    float(x): topics=sync
    complex(real, imag): topics=sync
    abs(x): by=numbers.extreme
    round(number, ndigits): by=numbers.extreme
    sum(iterable, start): gives=unknown by=numbers.extreme
    max min(*args, key, default): gives=unknown by=numbers.extreme
    any all(iterable): by=numbers.any
    isinstance(obj, class_or_tuple): by=objects.isinstance
    issubclass(cls, class_or_tuple)
    hasattr(obj, name): by=objects.isinstance
    callable id hash(obj)
    range(start, stop, step): gives=container by=containers.range
    slice(start, stop, step): gives=container
    ord(c)
    pow(base, exp, mod): gives=unknown
    divmod(x, y): gives=container
    """,
    ),
    Table(
        "",
        Row("string"),
        """
    str(object, encoding, errors): by=strings.str
    repr ascii(obj): by=strings.str
    format(value, format_spec)
    chr(i)
    bin hex oct(number)
    input(prompt)
    """,
    ),
    Table(
        "",
        Row("unknown"),
        """
    getattr(object, name, default): by=objects.getattr
    setattr(object, name, value): gives=None topics=keeps by=objects.setattr
    delattr(object, name): gives=None
    super(type, object): gives=other by=objects.super
    asyncio.to_thread(func, *args): by=functions.first
    type(object, bases, dict): by=objects.type
    object bytes bytearray memoryview(*args): gives=other
    print(*args, sep, end, file, flush): gives=None topics=sync
    open(file, mode, buffering, encoding, errors, newline, closefd, opener): gives=other
    exit quit(code): gives=None topics=exits
    property staticmethod classmethod(function)
    eval(source, globals, locals)
    exec(source, globals, locals, *, closure): gives=None by=python.exec
    """,
    ),
    Table(
        "copy.",
        Row("unknown", "first", by="objects.copy"),
        """
    copy(x)
    deepcopy(x, memo)
    """,
    ),
    Table(
        "itertools.",
        Row("container"),
        """
    cycle(iterable): by=containers.make
    islice(iterable, start, stop, step): by=containers.make
    chain(*iterables): by=containers.chain
    chain.from_iterable(iterable): by=containers.chain
    tee(iterable, n): gives=container
    zip_longest(*iterables, fillvalue): gives=container by=containers.zip
    product(*iterables, repeat): gives=container
    starmap(function, iterable): gives=container
    repeat(object, times): gives=container
    count(start, step): gives=container
    accumulate(iterable, func, *, initial): gives=container
    takewhile dropwhile(predicate, iterable): gives=container by=containers.filter
    """,
    ),
    Table(
        "functools.",
        Row("function"),
        """
    partial(func, *args): topics=keeps by=objects.partial
    wraps(wrapped, assigned, updated): gives=unknown
    lru_cache(maxsize, typed): gives=unknown topics=decorates
    cache(user_function): gives=first topics=decorates
    reduce(function, iterable, initial): gives=unknown
    """,
    ),
    Table(
        "",
        Row("other"),
        """
    contextlib.nullcontext(enter_result): gives=unknown
    contextlib.suppress(*exceptions): topics=expects-failure
    contextlib.contextmanager(func): gives=first topics=decorates
    contextlib.ExitStack()
    os.environ.get(key, default): gives=string
    os.getenv(key, default): gives=string
    os.environ.setdefault(key, default): gives=string topics=sets-environment
    os.putenv(name, value): gives=None topics=sets-environment
    os.environ.update(*args): gives=None topics=sets-environment
    sys.exit(status): gives=None topics=exits
    os._exit(status): gives=None topics=exits
    os.abort(): gives=None topics=exits
    warnings.catch_warnings(*, record, module, action, category, lineno, append)
    importlib.import_module(name, package): gives=unknown by=imports.load
    __import__(name, globals, locals, fromlist, level): gives=unknown by=imports.load
    importlib.util.find_spec(name, package)
    operator.itemgetter operator.attrgetter operator.methodcaller(*args): gives=function
    collections.namedtuple(typename, field_names, *, rename, defaults, module): by=objects.namedtuple
    types.SimpleNamespace(*args): topics=records by=objects.record
    argparse.Namespace(**kwargs): topics=records by=objects.record
    argparse.ArgumentParser()
    dataclasses.field(*, default, default_factory, init, repr, hash, compare, metadata,
            kw_only): gives=unknown topics=configures by=objects.field
    dataclasses.replace(obj, **changes): gives=unknown by=objects.replaced
    collections.OrderedDict(*args): gives=container by=containers.make
    collections.defaultdict(*args): gives=container by=containers.make
    collections.deque(iterable, maxlen): gives=container by=containers.make
    collections.Counter(iterable): gives=container
    multiprocessing.Process(group, target, name, args, kwargs, *, daemon): topics=forks
    multiprocessing.Pool(processes, initializer, initargs, maxtasksperchild): topics=forks
    multiprocessing.set_start_method(method, force): gives=None topics=start-method
    multiprocessing.get_context(method): topics=start-method
    subprocess.run subprocess.call subprocess.check_call subprocess.check_output
            subprocess.Popen(args, bufsize, executable, stdin, stdout, stderr): gives=unknown topics=spawns
    os.system(command): gives=number topics=spawns
    os.execv(path, args): gives=None topics=spawns
    concurrent.futures.ProcessPoolExecutor(max_workers, mp_context, initializer, initargs, *,
            max_tasks_per_child): topics=forks
    torch.multiprocessing.spawn(fn, args, nprocs, join, daemon, start_method): topics=spawns
    torch.multiprocessing.start_processes(fn, args, nprocs, join, daemon, start_method): topics=spawns
    torch.multiprocessing.set_start_method(method, force): gives=None topics=start-method
    torch.multiprocessing.Process(group, target, name, args, kwargs, *, daemon): topics=forks
    """,
    ),
    Table(
        "",
        Row("number", topics=frozenset({"clock"})),
        """
    time.time time.perf_counter time.monotonic time.process_time time.time_ns time.perf_counter_ns
    time.monotonic_ns time.process_time_ns timeit.default_timer()
    """,
    ),
    Table(
        "math.",
        Row("number"),
        """
    *(x)
    """,
    ),
    Table(
        "random.",
        Row("unknown"),
        """
    random(): gives=number
    randint(a, b): gives=number
    randrange(start, stop, step): gives=number
    uniform(a, b): gives=number
    choice(seq): gives=element
    shuffle(x): gives=None
    sample(population, k, *, counts): gives=container
    seed(a, version): gives=None
    """,
    ),
    Table(
        "Container.",
        Row("unknown"),
        """
    append appendleft add(item): gives=None by=containers.add
    insert(index, item): gives=None by=containers.add
    extend extendleft(iterable): gives=None by=containers.add
    update(other): gives=None by=containers.add
    items values keys(): gives=container by=containers.views
    get pop setdefault(key, default): by=containers.get
    popitem popleft(): by=containers.get
    copy(): gives=first
    clear reverse(): gives=None
    sort(*, key, reverse): gives=None
    remove discard(value): gives=None
    index count(value): gives=number
    union intersection difference(*others): gives=first
    """,
    ),
    Table(
        "String.",
        Row("string", "first"),
        """
    startswith(prefix, start, end): gives=number place= by=strings.startswith
    endswith(suffix, start, end): gives=number place=
    format(*args): by=strings.format
    lower strip upper title capitalize casefold lstrip rstrip(*args): by=strings.format
    split rsplit partition rpartition(sep, maxsplit): by=strings.format
    replace(old, new, count): by=strings.format
    join(iterable): place=
    isdigit isalpha isnumeric isdecimal(): gives=number place=
    find index count rfind(sub, start, end): gives=number place=
    removeprefix(prefix): by=strings.format
    removesuffix(suffix): by=strings.format
    encode(encoding, errors): gives=other place=
    """,
    ),
)
