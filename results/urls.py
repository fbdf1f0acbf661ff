from django.urls import path

from results.views import (
    annotators,
    bulk_actions,
    charts,
    disagreements,
    exports,
    human_model_disagreement,
    instances,
    participants,
    payments_due,
    questions,
    releases,
    reports,
    result_pages,
)
from results.views.paying import bonuses, money, review

urlpatterns = [
    path("projects/<slug:slug>/instances/", instances.instances, name="instances"),
    path("projects/<slug:slug>/instances/by-id/<int:pk>/", instances.instance_by_id, name="instance_by_id"),
    path("projects/<slug:slug>/instances/<path:key>/", instances.instance, name="instance"),
    path("projects/<slug:slug>/chosen/tag/", bulk_actions.tag, name="tag_instances"),
    path("projects/<slug:slug>/chosen/export/", bulk_actions.export, name="export_instances"),
    path("projects/<slug:slug>/chosen/take-out/", bulk_actions.take_out, name="take_out_instances"),
    path("projects/<slug:slug>/chosen/ask-again/", bulk_actions.ask, name="ask_again"),
    path("projects/<slug:slug>/people/", participants.people, name="project_people"),
    path("projects/<slug:slug>/people/find/", participants.find, name="find_person"),
    path("projects/<slug:slug>/people/<slug:name>/", participants.person, name="person"),
    path("projects/<slug:slug>/people/<slug:name>/data.json", participants.data, name="personal_data"),
    *(
        path(
            f"projects/<slug:slug>/people/<slug:name>/{name}/",
            participants.change,
            {"change": name},
            name=f"{name}_person",
        )
        for name in participants.CHANGES
    ),
    path("projects/<slug:slug>/results/", result_pages.project_results, name="project_results"),
    path("projects/<slug:slug>/results/<slug:table>.<slug:format>", result_pages.project_table, name="project_table"),
    path("projects/<slug:slug>/people-and-models/", human_model_disagreement.disagreement_list, name="project_parted"),
    path("projects/<slug:slug>/charts/<slug:digest>/", charts.chart, name="chart"),
    path("projects/<slug:slug>/charts/<slug:digest>.<slug:format>", charts.chart_file, name="chart_file"),
    path("projects/<slug:slug>/report/<slug:format>/", reports.report, name="project_report"),
    path("studies/<slug:project>/<slug:slug>/exports/", exports.request_one, name="study_exports"),
    path("studies/<slug:project>/<slug:slug>/releases/", releases.releases, name="study_releases"),
    path("projects/<slug:slug>/releases/compare/", releases.compare, name="compare_releases"),
    path("releases/<int:pk>/provider-ids/", releases.people, name="release_people"),
    path("studies/<slug:project>/<slug:slug>/results/", result_pages.study_results, name="study_results"),
    path(
        "studies/<slug:project>/<slug:slug>/results/<slug:table>.<slug:format>",
        result_pages.study_table,
        name="study_table",
    ),
    path("studies/<slug:project>/<slug:slug>/disagreements/", disagreements.disagreements, name="study_disagreements"),
    path(
        "studies/<slug:project>/<slug:slug>/disagreements/<int:question>/settle/", disagreements.settle, name="settle"
    ),
    path(
        "studies/<slug:project>/<slug:slug>/disagreements/<int:question>/unsettle/",
        disagreements.unsettle,
        name="unsettle",
    ),
    path("studies/<slug:project>/<slug:slug>/questions/", questions.questions, name="study_questions"),
    path("studies/<slug:project>/<slug:slug>/annotators/", annotators.annotators, name="study_annotators"),
    path("studies/<slug:project>/<slug:slug>/owed/", payments_due.page, name="study_owed"),
    path("studies/<slug:project>/<slug:slug>/owed.csv", payments_due.owed_csv, name="study_owed_csv"),
    path("studies/<slug:project>/<slug:slug>/review/", review.review, name="study_review"),
    path("studies/<slug:project>/<slug:slug>/review/<int:session>/", review.session, name="study_review_session"),
    path(
        "studies/<slug:project>/<slug:slug>/review/<int:session>/reject/",
        review.reject_session,
        name="reject_submission",
    ),
    path("studies/<slug:project>/<slug:slug>/bonuses/", bonuses.bonuses, name="study_bonuses"),
    path("projects/<slug:slug>/money/", money.money, name="project_money"),
    path("projects/<slug:slug>/money/statement.csv", money.statement_csv, name="project_statement"),
    path("projects/<slug:slug>/money/prolific/", money.comparison, name="project_money_check"),
    path("projects/<slug:slug>/money/prolific/rewards/", money.note_paid_rewards, name="note_paid_rewards"),
    path("projects/<slug:slug>/money/prolific/amount/", money.note_paid_amount, name="note_paid_amount"),
    path("projects/<slug:slug>/money/refused/", money.send_refused_again, name="send_refused_again"),
    path("projects/<slug:slug>/money/payments/<int:pk>/", money.payment, name="project_payment"),
    path("exports/<int:pk>/", exports.status, name="export"),
    path("exports/<int:pk>/cancel/", exports.cancel, name="export_cancel"),
    path("exports/<int:pk>/download/", exports.download, name="export_download"),
]
